package dataset

import (
	"context"
	"iter"

	"github.com/tenonml/tenon"
)

// FromRows returns the dataset of the rows of a Value, or of a structure of Values that
// have the same number of rows. An element is a structure like x that holds a row of
// each; its Go type has to be able to: the rows of a *ragged.Tensor are dense, so
//
//	dataset.FromRows[tensor.Tensor](r)
//
// Nothing is copied.
func FromRows[T any](x T) *Dataset[T] {
	r, err := newRows(x)
	return derived[T](&rowsNode[T]{r}, err)
}

// rowsNode is rows in memory.
type rowsNode[T any] struct{ r *stored[T] }

func (n *rowsNode[T]) count() (int64, bool, error) { return n.r.n, true, nil }
func (n *rowsNode[T]) random() bool                { return true }
func (n *rowsNode[T]) at(i int64) (T, error)       { return n.r.row(i % n.r.n) }
func (n *rowsNode[T]) ref(i int64) (ref[T], bool)  { return ref[T]{n.r, i % n.r.n}, true }
func (n *rowsNode[T]) specs() []tenon.Field        { return n.r.rowSpecs() }
func (n *rowsNode[T]) stream(ctx context.Context, epoch, from int64) iter.Seq[item[T]] {
	return numbered(ctx, n, epoch, from)
}

// FromSlice returns the dataset of the elements of a slice, which must not change.
func FromSlice[T any](elements []T) *Dataset[T] { return derived[T](&sliceNode[T]{elements}) }

type sliceNode[T any] struct{ list []T }

func (n *sliceNode[T]) count() (int64, bool, error)   { return int64(len(n.list)), true, nil }
func (n *sliceNode[T]) random() bool                  { return true }
func (n *sliceNode[T]) at(i int64) (T, error)         { return n.list[i%int64(len(n.list))], nil }
func (n *sliceNode[T]) ref(int64) (r ref[T], ok bool) { return r, false }
func (n *sliceNode[T]) specs() []tenon.Field          { return nil }
func (n *sliceNode[T]) stream(ctx context.Context, epoch, from int64) iter.Seq[item[T]] {
	return numbered(ctx, n, epoch, from)
}

// FromFunc returns the dataset of n elements of which at gives each by its number, from 0
// on: the record batches of a file, or the lines of an index. at is called by several
// goroutines at once, and gives the same element for the same number.
func FromFunc[T any](n int64, at func(i int64) (T, error)) *Dataset[T] {
	if n < 0 {
		return derived[T](nil, invalid("dataset.FromFunc", "there are %d elements", n))
	}
	return derived[T](&funcNode[T]{n, at})
}

type funcNode[T any] struct {
	n    int64
	elem func(int64) (T, error)
}

func (n *funcNode[T]) count() (int64, bool, error)   { return n.n, true, nil }
func (n *funcNode[T]) random() bool                  { return true }
func (n *funcNode[T]) at(i int64) (T, error)         { return n.elem(i % n.n) }
func (n *funcNode[T]) ref(int64) (r ref[T], ok bool) { return r, false }
func (n *funcNode[T]) specs() []tenon.Field          { return nil }
func (n *funcNode[T]) stream(ctx context.Context, epoch, from int64) iter.Seq[item[T]] {
	return numbered(ctx, n, epoch, from)
}

// FromSeq returns the stream of the elements that an iterator gives. open is called for
// each loop, and for each epoch of one; it has to give the same elements each time,
// unless the stream is read once only.
func FromSeq[T any](open func() iter.Seq2[T, error]) *Dataset[T] {
	return derived[T](&seqNode[T]{open: open})
}

type seqNode[T any] struct {
	streamed[T]
	open func() iter.Seq2[T, error]
}

func (n *seqNode[T]) stream(ctx context.Context, _, from int64) iter.Seq[item[T]] {
	return func(yield func(item[T]) bool) {
		i := int64(0)
		for x, err := range n.open() {
			if ctx.Err() != nil {
				return
			}
			if i++; i > from || err != nil {
				if !yield(failed(x, elementError(i-1, err))) || err != nil {
					return
				}
			}
		}
	}
}

// FromBatches returns the stream of the rows of the Values, or structures of Values, that
// an iterator gives, such as jsonl.Batches:
//
//	dataset.FromBatches(func() iter.Seq2[*structured.Tensor, error] {
//		return jsonl.Batches(jsonl.Files(names...), 1000, jsonl.Options{Schema: schema})
//	})
//
// Batches of another size are cut from them and joined again without going through single
// rows. open is called as that of [FromSeq] is.
func FromBatches[T any](open func() iter.Seq2[T, error]) *Dataset[T] {
	return derived[T](&batchesNode[T]{open: open})
}

type batchesNode[T any] struct {
	streamed[T]
	open func() iter.Seq2[T, error]
}

func (n *batchesNode[T]) stream(ctx context.Context, _, from int64) iter.Seq[item[T]] {
	return func(yield func(item[T]) bool) {
		start := int64(0)
		for x, err := range n.open() {
			if ctx.Err() != nil {
				return
			}
			var r *stored[T]
			if err == nil {
				r, err = newRows(x)
			}
			if err != nil {
				yield(failed(x, elementError(start, err)))
				return
			}
			for i := max(0, from-start); i < r.n; i++ {
				if !yield(item[T]{func() (T, error) { return r.row(i) }, ref[T]{r, i}}) {
					return
				}
			}
			start += r.n
		}
	}
}

// streamed is the part that nodes without numbers share.
type streamed[T any] struct{}

func (streamed[T]) count() (int64, bool, error) { return 0, false, nil }
func (streamed[T]) random() bool                { return false }
func (streamed[T]) at(int64) (x T, err error)   { return x, unnumbered("At") }
func (streamed[T]) ref(int64) (r ref[T], ok bool) {
	return r, false
}
func (streamed[T]) specs() []tenon.Field { return nil }
