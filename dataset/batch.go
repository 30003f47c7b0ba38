package dataset

import (
	"context"
	"iter"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/rows"
	"github.com/tenonml/tenon/shape"
)

// Kind says how a batch holds elements of different sizes.
type Kind uint8

// The kinds of batches.
const (
	Dense  Kind = iota // elements of one size, along a new first axis; other sizes are an error
	Ragged             // dimensions whose sizes may differ are ragged
	Padded             // shorter elements are filled up to the longest of the batch
)

// BatchOptions say how elements are put together. The zero value stacks elements of one
// size.
type BatchOptions struct {
	Kind Kind

	// Pad is what fills up numbers and truth values of Padded, a constant: 0 or false
	// where it is nil. Strings are filled up with empty ones.
	Pad any

	// DropRemainder leaves out a last batch of less elements.
	DropRemainder bool
}

// Batch returns the dataset of batches of a number of elements: each Value in an element
// gets a new outermost dimension. With Ragged, dimensions of stored rows are ragged where
// the rows' Spec says so; the first dimension of dense elements that are computed one by
// one is ragged, also where they agree, and the others have to agree.
func (d *Dataset[T]) Batch(size int, o BatchOptions) *Dataset[T] {
	var err error
	if size < 1 {
		err = invalid("Batch", "a batch has one element at least, not %d", size)
	}
	if o.Kind > Padded {
		err = invalid("Batch", "there is no kind %d of batches", o.Kind)
	}
	return derived[T](&batchNode[T]{d.n, int64(size), o}, d.err, err)
}

type batchNode[T any] struct {
	up   node[T]
	size int64
	o    BatchOptions
}

func (n *batchNode[T]) count() (int64, bool, error) {
	c, ok, err := n.up.count()
	k := c / n.size
	if c%n.size > 0 && !n.o.DropRemainder {
		k++
	}
	return k, ok, err
}

func (n *batchNode[T]) random() bool                  { return n.up.random() }
func (n *batchNode[T]) ref(int64) (r ref[T], ok bool) { return r, false }

func (n *batchNode[T]) specs() []tenon.Field {
	var out []tenon.Field
	if n.o.Kind != Ragged {
		return nil
	}
	for _, f := range n.up.specs() {
		size := shape.Unknown
		if n.o.DropRemainder {
			size = int(n.size)
		}
		s, err := rows.BatchSpec(f.Spec, size)
		if err != nil {
			return nil
		}
		out = append(out, tenon.Field{Name: f.Name, Spec: s})
	}
	return out
}

func (n *batchNode[T]) at(i int64) (x T, err error) {
	all, _, err := n.up.count()
	if err != nil {
		return x, err
	}
	own, _, _ := n.count()
	start := i / own * all
	lo := i % own * n.size
	hi := min(lo+n.size, all)
	refs := make([]ref[T], 0, hi-lo)
	for k := start + lo; k < start+hi; k++ {
		r, ok := n.up.ref(k)
		if !ok {
			break
		}
		refs = append(refs, r)
	}
	if int64(len(refs)) == hi-lo {
		return finished(n.o, func() (T, error) { return gathered(refs) })
	}
	list := make([]T, 0, hi-lo)
	for k := start + lo; k < start+hi; k++ {
		y, err := n.up.at(k)
		if err != nil {
			return x, elementError(k, err)
		}
		list = append(list, y)
	}
	return stacked(list, n.o)
}

func (n *batchNode[T]) stream(ctx context.Context, epoch, from int64) iter.Seq[item[T]] {
	if n.random() {
		return numbered(ctx, n, epoch, from)
	}
	return func(yield func(item[T]) bool) {
		var group []item[T]
		first := from * n.size
		for it := range n.up.stream(ctx, epoch, first) {
			if group = append(group, it); int64(len(group)) < n.size {
				continue
			}
			if !yield(batchOf(group, first, n.o)) {
				return
			}
			first += n.size
			group = nil
		}
		if len(group) > 0 && !n.o.DropRemainder && ctx.Err() == nil {
			yield(batchOf(group, first, n.o))
		}
	}
}

// batchOf returns the batch of some items, the first of which has a number.
func batchOf[T any](group []item[T], first int64, o BatchOptions) item[T] {
	return item[T]{get: func() (x T, err error) {
		refs := make([]ref[T], 0, len(group))
		for _, it := range group {
			if it.ref.of != nil {
				refs = append(refs, it.ref)
			}
		}
		if len(refs) == len(group) {
			return finished(o, func() (T, error) { return gathered(refs) })
		}
		list := make([]T, len(group))
		for i, it := range group {
			if list[i], err = it.get(); err != nil {
				return x, elementError(first+int64(i), err)
			}
		}
		return stacked(list, o)
	}}
}

// BucketOptions say how [Dataset.Bucket] sorts elements.
type BucketOptions struct {
	// Bounds are the lengths at which another bucket begins, rising: bucket 0 is for
	// lengths below Bounds[0], the last one for those of Bounds[len(Bounds)-1] and above.
	Bounds []int

	// Sizes are the numbers of elements in a batch of each bucket, len(Bounds)+1 of them.
	Sizes []int

	// Batch says how elements are put together. With DropRemainder, elements that are
	// left in buckets at the end are left out.
	Batch BatchOptions
}

// Bucket returns the stream of batches of elements of similar length: each element goes
// to the bucket for its length, and a bucket that is full is a batch. What is left at
// the end comes last, the shortest first.
func (d *Dataset[T]) Bucket(length func(T) (int, error), o BucketOptions) *Dataset[T] {
	var err error
	if len(o.Sizes) != len(o.Bounds)+1 {
		err = invalid("Bucket", "%d bounds make %d buckets, there are %d sizes", len(o.Bounds), len(o.Bounds)+1, len(o.Sizes))
	}
	for i, b := range o.Bounds {
		if i > 0 && b <= o.Bounds[i-1] {
			err = invalid("Bucket", "the bounds %v do not rise", o.Bounds)
		}
	}
	for _, s := range o.Sizes {
		if s < 1 {
			err = invalid("Bucket", "the sizes %v are not all positive", o.Sizes)
		}
	}
	return derived[T](&bucketNode[T]{up: d.n, length: length, o: o}, d.err, err)
}

type bucketNode[T any] struct {
	streamed[T]
	up     node[T]
	length func(T) (int, error)
	o      BucketOptions
}

func (n *bucketNode[T]) stream(ctx context.Context, epoch, from int64) iter.Seq[item[T]] {
	return func(yield func(item[T]) bool) {
		buckets := make([][]item[T], len(n.o.Sizes))
		left := from
		emit := func(group []item[T]) bool {
			if left--; left >= 0 {
				return true
			}
			return yield(batchOf(group, 0, n.o.Batch))
		}
		i := int64(-1)
		for it := range n.up.stream(ctx, epoch, 0) {
			i++
			x, err := it.get()
			size := 0
			if err == nil {
				size, err = called(n.length, x)
			}
			if err != nil {
				yield(failed(x, elementError(i, err)))
				return
			}
			k := 0
			for k < len(n.o.Bounds) && size >= n.o.Bounds[k] {
				k++
			}
			if it.ref.of == nil {
				it.get = func() (T, error) { return x, nil }
			}
			buckets[k] = append(buckets[k], it)
			if len(buckets[k]) < n.o.Sizes[k] {
				continue
			}
			if !emit(buckets[k]) {
				return
			}
			buckets[k] = nil
		}
		if n.o.Batch.DropRemainder || ctx.Err() != nil {
			return
		}
		for _, group := range buckets {
			if len(group) > 0 && !emit(group) {
				return
			}
		}
	}
}
