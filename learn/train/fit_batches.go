package train

import (
	"context"
	"fmt"
	"iter"
	"runtime/debug"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/dataset"
)

// batches yields the remaining batches, making one in advance.
func (r *run[P, B]) batches(ctx context.Context) iter.Seq2[B, error] {
	type made struct {
		batch B
		err   error
	}
	return func(yield func(B, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		ahead, first := make(chan made, 1), r.trainer.Steps()
		go func() {
			defer close(ahead)
			for at := first; at < r.steps && ctx.Err() == nil; at++ {
				b, err := r.make(ctx, at)
				select {
				case ahead <- made{b, err}:
				case <-ctx.Done():
					return
				}
				if err != nil {
					return
				}
			}
		}()
		defer func() {
			cancel()
			for range ahead { // the goroutine has ended when the channel is closed
			}
		}()
		for {
			select {
			case m, ok := <-ahead:
				if !ok || !yield(m.batch, m.err) {
					return
				}
			case <-ctx.Done():
				var none B
				yield(none, ctx.Err())
				return
			}
		}
	}
}

// make makes one batch. Its errors say which one. A panic of the source becomes an error,
// because the caller could not recover it from this goroutine.
func (r *run[P, B]) make(ctx context.Context, at int) (b B, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &dataset.ElementError{Index: int64(at), Err: fmt.Errorf("the source of batches panicked: %v", p), Stack: string(debug.Stack())}
		}
	}()
	b, err = tenon.Try(func() B {
		b, err := r.Data.At(ctx, at)
		tenon.Throw(err)
		return b
	})
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("batch %d of epoch %d: %w", at%r.Data.Batches, at/r.Data.Batches, err)
	}
	return b, err
}
