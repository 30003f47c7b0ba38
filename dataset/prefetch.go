package dataset

import (
	"context"
	"iter"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/tenonml/tenon"
)

// Prefetch returns the same elements, of which up to n are computed ahead of the loop that
// reads them, several at once. They come in their order. When the loop ends, it waits for
// those that are being computed.
func (d *Dataset[T]) Prefetch(n int) *Dataset[T] {
	if n < 1 {
		return derived(d.n, d.err, invalid("Prefetch", "%d elements cannot be computed ahead", n))
	}
	return derived[T](&prefetchNode[T]{d.n, n}, d.err)
}

type prefetchNode[T any] struct {
	up    node[T]
	ahead int
}

func (n *prefetchNode[T]) count() (int64, bool, error) { return n.up.count() }
func (n *prefetchNode[T]) random() bool                { return n.up.random() }
func (n *prefetchNode[T]) at(i int64) (T, error)       { return n.up.at(i) }
func (n *prefetchNode[T]) ref(i int64) (ref[T], bool)  { return n.up.ref(i) }
func (n *prefetchNode[T]) specs() []tenon.Field        { return n.up.specs() }

// pending is an element that is being computed.
type pending[T any] struct {
	item[T]
	number int64
	done   chan struct{}
	x      T
	err    error
}

// compute computes the element. A panic of a function that the caller has given would end
// the process, as nobody on this goroutine knows it: it becomes the element's error.
func (p *pending[T]) compute() {
	defer func() {
		if r := recover(); r != nil {
			p.err = panicked(p.number, r)
		}
	}()
	p.x, p.err = p.get()
}

// panicked returns a panic as the error of an element, with the stack.
func panicked(i int64, r any) error {
	e := invalid("Prefetch", "a function of the dataset panics: %v", r).(*tenon.Error)
	if err, ok := r.(error); ok {
		e.Err = err
	}
	return &ElementError{Index: i, Err: e, Stack: string(debug.Stack())}
}

func (n *prefetchNode[T]) stream(ctx context.Context, epoch, from int64) iter.Seq[item[T]] {
	return func(yield func(item[T]) bool) {
		ctx, cancel := context.WithCancel(ctx)
		order := make(chan *pending[T], n.ahead) // what is yet to be delivered
		work := make(chan *pending[T], n.ahead)  // what is yet to be computed
		var group sync.WaitGroup
		defer group.Wait()
		defer cancel()
		group.Go(func() {
			defer close(order)
			defer close(work)
			next := from
			defer func() { // what the functions of a stream panic with ends the loop that reads it
				if r := recover(); r != nil {
					p := &pending[T]{err: panicked(next, r), done: make(chan struct{})}
					close(p.done)
					select {
					case order <- p:
					case <-ctx.Done():
					}
				}
			}()
			for it := range n.up.stream(ctx, epoch, from) {
				p := &pending[T]{item: it, number: next, done: make(chan struct{})}
				next++
				select {
				case order <- p:
				case <-ctx.Done():
					return
				}
				work <- p // workers take whatever comes, to the end
			}
		})
		for range min(n.ahead, runtime.GOMAXPROCS(0)) {
			group.Go(func() {
				for p := range work {
					if ctx.Err() == nil {
						p.compute()
					}
					close(p.done)
				}
			})
		}
		for p := range order {
			select {
			case <-p.done:
			case <-ctx.Done():
				return
			}
			if ctx.Err() != nil || !yield(item[T]{func() (T, error) { return p.x, p.err }, p.ref}) {
				return
			}
		}
	}
}
