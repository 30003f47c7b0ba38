package sparse

import (
	"fmt"
	"math"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// bad returns an error of a function of this package.
func bad(fn string, kind error, where, format string, args ...any) *tenon.Error {
	return &tenon.Error{Kind: kind, Op: "sparse." + fn, Where: where, Msg: fmt.Sprintf(format, args...), Line: source.Line()}
}

// rank returns the number of dimensions, which must be known.
func (t *Tensor) rank() int {
	r := t.indices.Shape().Dim(1)
	if r < 0 {
		r = t.spec.shape.Rank()
	}
	if r < 0 {
		tenon.Throw(bad("Tensor", tenon.ErrShape, "", "the rank of %v is not known", t.spec))
	}
	return r
}

// axis converts an axis that may count from the end to one that counts from the start.
func (t *Tensor) axis(fn string, a int) int {
	r := t.rank()
	if a < -r || a >= r {
		tenon.Throw(bad(fn, tenon.ErrAxis, "axis", "%v has no axis %d", t.spec, a))
	}
	return (a + r) % r
}

// column returns coordinate a of all values.
func (t *Tensor) column(a int) tensor.Tensor { return ops.Index(t.indices, key.All, a) }

// size returns the size of an axis, an int or a scalar tensor.
func (t *Tensor) size(a int) any {
	if n := t.dim(a); n >= 0 {
		return n
	}
	return ops.Index(t.denseShape, a)
}

// dim returns the size of an axis, or shape.Unknown.
func (t *Tensor) dim(a int) int {
	if !t.spec.shape.HasRank() {
		return shape.Unknown
	}
	return t.spec.shape.Dim(a)
}

// columns returns the coordinates of some axes, as keys that distinguish values.
func (t *Tensor) columns(axes []int) []any {
	if len(axes) == 0 {
		return []any{ops.Zeros(dtype.Int64, vector(length(t.indices)))}
	}
	out := make([]any, len(axes))
	for i, a := range axes {
		out[i] = t.column(a)
	}
	return out
}

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// places returns the position of each value in the dense tensor, in row-major order, if positions
// are known to fit in int64.
func (t *Tensor) places() (tensor.Tensor, bool) {
	s := t.spec.shape
	if !s.IsFull() || s.Size() == math.MaxInt {
		return nil, false
	}
	strides := make([]int64, s.Rank())
	step := int64(1)
	for a := len(strides) - 1; a >= 0; a-- {
		strides[a] = step
		step *= int64(s.Dim(a))
	}
	return ops.Sum(ops.Mul(t.indices, tensor.Vector(strides)), 1), true
}

// order returns the positions of the values in row-major order of their coordinates.
func (t *Tensor) order() tensor.Tensor {
	if p, ok := t.places(); ok {
		return ops.ArgSort(p, 0, ops.SortOptions{})
	}
	// Apply stable sorts by one coordinate after the other, starting with the
	// last.
	r := t.rank()
	order := ops.ArgSort(t.column(r-1), 0, ops.SortOptions{})
	for a := r - 2; a >= 0; a-- {
		next := ops.ArgSort(ops.Gather(t.column(a), order, 0), 0, ops.SortOptions{})
		order = ops.Gather(order, next, 0)
	}
	return order
}

// sorted returns the tensor with its values in row-major order.
func (t *Tensor) sorted() *Tensor {
	if t.canonical || t.rank() == 0 {
		return t
	}
	if at, ok := op.Known(t.indices); ok && inOrder(tensor.Data[int64](at), t.rank(), false) {
		return t
	}
	order := t.order()
	r := *t
	r.indices, r.values = ops.Gather(t.indices, order, 0), ops.Gather(t.values, order, 0)
	return &r
}

// inOrder reports whether rows of coordinates are in lexicographic order, each at most once if
// strict is set.
func inOrder(xs []int64, rank int, strict bool) bool {
	for i := rank; i+rank <= len(xs); i += rank {
		if c := slices.Compare(xs[i-rank:i], xs[i:i+rank]); c > 0 || strict && c == 0 {
			return false
		}
	}
	return true
}

// Reorder returns the same tensor with its values in row-major order of their
// coordinates. Values at the same coordinates keep their order.
func (t *Tensor) Reorder() (r *Tensor, err error) {
	defer tenon.Catch(&err)
	return t.sorted(), nil
}

// Coalesce returns the tensor in row-major order with a single value at each coordinate: numbers at
// the same coordinate are added; of other elements the last one is kept.
func (t *Tensor) Coalesce() (r *Tensor, err error) {
	defer tenon.Catch(&err)
	return t.coalesced(), nil
}

func (t *Tensor) coalesced() *Tensor {
	if t.canonical {
		return t
	}
	s := t.sorted()
	ids, first, _ := rows.Group(s.columns(upTo(s.rank()))...)
	var values tensor.Tensor
	if d := s.DType(); d == dtype.Bool || d == dtype.String {
		values = ops.Gather(s.values, ops.SegmentMax(numbers(s.values), ids, length(first)), 0)
	} else {
		values = ops.SegmentSum(s.values, ids, length(first))
	}
	r := trusted(ops.Gather(s.indices, first, 0), values, s.denseShape, s.spec.shape)
	r.canonical = true
	return r
}

// numbers returns the positions of the elements of a vector.
func numbers(v tensor.Tensor) tensor.Tensor {
	return ops.Range(int64(0), scalarOf(length(v)), int64(1))
}

// length returns the number of elements of a vector as an int or a scalar tensor.
func length(v tensor.Tensor) any {
	if n := v.Shape().Dim(0); n >= 0 {
		return n
	}
	return ops.Index(ops.Shape(v), 0)
}
