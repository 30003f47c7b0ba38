package dataset

import (
	"context"
	"iter"
	"math"
	"sync"

	"github.com/tenonml/tenon"
)

// Map returns the dataset of what a function makes of each element. The function has to
// be pure: it is called when an element is needed, from several goroutines under
// Prefetch. What expression functions throw in it becomes an error.
func Map[T, U any](d *Dataset[T], f func(T) (U, error)) *Dataset[U] {
	return derived[U](&mapNode[T, U]{d.n, f}, d.err)
}

// Map is [Map] with a function that keeps the type.
func (d *Dataset[T]) Map(f func(T) (T, error)) *Dataset[T] { return Map(d, f) }

type mapNode[T, U any] struct {
	up node[T]
	f  func(T) (U, error)
}

func (n *mapNode[T, U]) count() (int64, bool, error)   { return n.up.count() }
func (n *mapNode[T, U]) random() bool                  { return n.up.random() }
func (n *mapNode[T, U]) ref(int64) (r ref[U], ok bool) { return r, false }
func (n *mapNode[T, U]) specs() []tenon.Field          { return nil }

func (n *mapNode[T, U]) at(i int64) (U, error) {
	return n.apply(i, func() (T, error) { return n.up.at(i) })
}

func (n *mapNode[T, U]) apply(i int64, get func() (T, error)) (y U, err error) {
	x, err := get()
	if err == nil {
		y, err = called(n.f, x)
	}
	return y, elementError(i, err)
}

// called calls f and catches what it throws.
func called[T, U any](f func(T) (U, error), x T) (y U, err error) {
	defer tenon.Catch(&err)
	return f(x)
}

func (n *mapNode[T, U]) stream(ctx context.Context, epoch, from int64) iter.Seq[item[U]] {
	return func(yield func(item[U]) bool) {
		i := from
		for it := range n.up.stream(ctx, epoch, from) {
			k := i
			i++
			if !yield(item[U]{get: func() (U, error) { return n.apply(k, it.get) }}) {
				return
			}
		}
	}
}

// Filter returns the stream of the elements for which a condition holds. The number of
// those that do not is not known before they are read.
func (d *Dataset[T]) Filter(keep func(T) (bool, error)) *Dataset[T] {
	return derived[T](&filterNode[T]{up: d.n, keep: keep}, d.err)
}

type filterNode[T any] struct {
	streamed[T]
	up   node[T]
	keep func(T) (bool, error)
}

func (n *filterNode[T]) specs() []tenon.Field { return n.up.specs() }

func (n *filterNode[T]) stream(ctx context.Context, epoch, from int64) iter.Seq[item[T]] {
	return func(yield func(item[T]) bool) {
		i, left := int64(-1), from
		for it := range n.up.stream(ctx, epoch, 0) {
			i++
			x, err := it.get()
			ok := false
			if err == nil {
				ok, err = called(n.keep, x)
			}
			if err != nil {
				yield(failed(x, elementError(i, err)))
				return
			}
			if !ok {
				continue
			}
			if left--; left >= 0 {
				continue
			}
			if !yield(item[T]{func() (T, error) { return x, nil }, it.ref}) {
				return
			}
		}
	}
}

// selectNode is a filtered random node with numbers: those of the elements for which the
// condition holds in the first epoch.
type selectNode[T any] struct {
	*filterNode[T]
	once sync.Once
	at0  []int64
	err  error
}

func (n *selectNode[T]) plan() ([]int64, error) {
	n.once.Do(func() {
		count, _, err := n.up.count()
		n.err = err
		for i := int64(0); i < count && n.err == nil; i++ {
			x, err := n.up.at(i)
			ok := false
			if err == nil {
				ok, err = called(n.keep, x)
			}
			if n.err = elementError(i, err); ok {
				n.at0 = append(n.at0, i)
			}
		}
	})
	return n.at0, n.err
}

func (n *selectNode[T]) random() bool { return true }

func (n *selectNode[T]) count() (int64, bool, error) {
	at, err := n.plan()
	return int64(len(at)), true, err
}

func (n *selectNode[T]) at(i int64) (x T, err error) {
	at, err := n.plan()
	if err != nil {
		return x, err
	}
	return n.up.at(at[i%int64(len(at))])
}

func (n *selectNode[T]) ref(i int64) (ref[T], bool) {
	at, err := n.plan()
	if err != nil {
		return ref[T]{}, false
	}
	return n.up.ref(at[i%int64(len(at))])
}

func (n *selectNode[T]) stream(ctx context.Context, epoch, from int64) iter.Seq[item[T]] {
	return numbered(ctx, n, epoch, from)
}

// numberedNode returns a node with numbers, and an error where there is none.
func numberedNode[T any](op string, n node[T]) (node[T], error) {
	if f, ok := n.(*filterNode[T]); ok && f.up.random() {
		return &selectNode[T]{filterNode: f}, nil
	}
	if !n.random() {
		return n, unnumbered(op)
	}
	return n, nil
}

// Take returns the first n elements, or all where there are less. Of what is shuffled it
// takes a fixed part, the first n elements of the first epoch, in each epoch: shuffle again
// behind it for another order of them. See [Dataset.Split].
func (d *Dataset[T]) Take(n int64) *Dataset[T] {
	if n < 0 {
		return derived(d.n, d.err, invalid("Take", "%d elements cannot be taken", n))
	}
	return derived[T](&rangeNode[T]{d.n, 0, n}, d.err)
}

// Skip returns the elements without the first n, in each epoch the same ones.
func (d *Dataset[T]) Skip(n int64) *Dataset[T] {
	if n < 0 {
		return derived(d.n, d.err, invalid("Skip", "%d elements cannot be skipped", n))
	}
	return derived[T](&rangeNode[T]{d.n, n, math.MaxInt64}, d.err)
}

// rangeNode is elements lo to hi, or to the end.
type rangeNode[T any] struct {
	up     node[T]
	lo, hi int64
}

func (n *rangeNode[T]) count() (int64, bool, error) {
	c, ok, err := n.up.count()
	return max(0, min(c, n.hi)-n.lo), ok, err
}

// number returns the number that element i has in the node above: a fixed part of its first
// epoch, so that parts do not mix where each epoch has another order.
func (n *rangeNode[T]) number(i int64) int64 {
	all, _, _ := n.up.count() // whose error count has returned already
	own := max(0, min(all, n.hi)-n.lo)
	return n.lo + i%own
}

func (n *rangeNode[T]) random() bool               { return n.up.random() }
func (n *rangeNode[T]) at(i int64) (T, error)      { return n.up.at(n.number(i)) }
func (n *rangeNode[T]) ref(i int64) (ref[T], bool) { return n.up.ref(n.number(i)) }
func (n *rangeNode[T]) specs() []tenon.Field       { return n.up.specs() }

func (n *rangeNode[T]) stream(ctx context.Context, _, from int64) iter.Seq[item[T]] {
	return func(yield func(item[T]) bool) {
		left := n.hi - n.lo - from
		if left <= 0 {
			return
		}
		for it := range n.up.stream(ctx, 0, n.lo+from) {
			if !yield(it) {
				return
			}
			if left--; left == 0 {
				return
			}
		}
	}
}

// Repeat returns the elements n times, each time those of another epoch; 0 is without
// end.
func (d *Dataset[T]) Repeat(n int64) *Dataset[T] {
	if n < 0 {
		return derived(d.n, d.err, invalid("Repeat", "elements cannot be repeated %d times", n))
	}
	return derived[T](&repeatNode[T]{d.n, n}, d.err)
}

type repeatNode[T any] struct {
	up    node[T]
	times int64
}

func (n *repeatNode[T]) count() (int64, bool, error) {
	c, ok, err := n.up.count()
	if c == 0 {
		return 0, ok, err
	}
	if n.times == 0 || c > math.MaxInt64/n.times {
		return math.MaxInt64, ok, err
	}
	return c * n.times, ok, err
}

func (n *repeatNode[T]) random() bool               { return n.up.random() }
func (n *repeatNode[T]) at(i int64) (T, error)      { return n.up.at(i) }
func (n *repeatNode[T]) ref(i int64) (ref[T], bool) { return n.up.ref(i) }
func (n *repeatNode[T]) specs() []tenon.Field       { return n.up.specs() }

func (n *repeatNode[T]) stream(ctx context.Context, epoch, from int64) iter.Seq[item[T]] {
	if n.random() {
		return numbered(ctx, n, epoch, from)
	}
	return func(yield func(item[T]) bool) {
		left := from
		for e := int64(0); (n.times == 0 || e < n.times) && ctx.Err() == nil; e++ {
			some := false
			for it := range n.up.stream(ctx, epoch*n.times+e, 0) {
				some = true
				if left--; left < 0 && !yield(it) {
					return
				}
			}
			if !some {
				return
			}
		}
	}
}
