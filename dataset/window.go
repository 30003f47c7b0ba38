package dataset

import (
	"context"
	"iter"

	"github.com/tenonml/tenon"
)

// ShuffleWindow returns the elements of a stream in an order that the seed decides, as far
// as a window of a number of elements allows: each element is chosen among the size ones
// that come next. What is not in memory already, such as the rows of [FromBatches], is
// kept there while it waits. [Dataset.Shuffle] is better where elements have numbers.
func (d *Dataset[T]) ShuffleWindow(size int, seed uint64) *Dataset[T] {
	var err error
	if size < 1 {
		err = invalid("ShuffleWindow", "a window has one element at least, not %d", size)
	}
	return derived[T](&windowNode[T]{up: d.n, size: size, seed: seed}, d.err, err)
}

type windowNode[T any] struct {
	streamed[T]
	up   node[T]
	size int
	seed uint64
}

func (n *windowNode[T]) count() (int64, bool, error) { return n.up.count() }
func (n *windowNode[T]) specs() []tenon.Field        { return n.up.specs() }

func (n *windowNode[T]) stream(ctx context.Context, epoch, from int64) iter.Seq[item[T]] {
	return func(yield func(item[T]) bool) {
		key := mix(n.seed ^ mix(uint64(epoch)))
		window := make([]item[T], 0, min(n.size, 1<<16))
		i := int64(0) // elements that have been chosen
		// choose takes an element out of the window.
		choose := func() bool {
			k := int(mix(key+uint64(i)) % uint64(len(window)))
			last := len(window) - 1
			it := window[k]
			window[k] = window[last]
			window[last] = item[T]{}
			window = window[:last]
			i++
			return i <= from || yield(it)
		}
		for it := range n.up.stream(ctx, epoch, 0) {
			if window = append(window, it); len(window) == n.size && !choose() {
				return
			}
		}
		for len(window) > 0 && ctx.Err() == nil {
			if !choose() {
				return
			}
		}
	}
}
