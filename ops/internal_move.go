package ops

import (
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/gather"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A mover has the kernels that move elements of one size.
type mover interface {
	rows(out, src, idx *tensor.Dense, width int) error
	along(out, src, idx *tensor.Dense, outer, n, m, inner int) error
	update(dst, updates, idx *tensor.Dense, width int) error
	compact(out, src *tensor.Dense, mask []bool, width int)
}

type sized[T any] struct{}

var movers = [17]mover{1: sized[uint8]{}, 2: sized[uint16]{}, 4: sized[uint32]{}, 8: sized[uint64]{}, 16: sized[[2]uint64]{}}

func moverOf(d dtype.DType) mover { return movers[d.Size()] }

func (sized[T]) rows(out, src, idx *tensor.Dense, width int) error {
	if idx.DType() == dtype.Int32 {
		return gather.Rows(move.Words[T](out), move.Words[T](src), tensor.Elems[int32](idx), width)
	}
	return gather.Rows(move.Words[T](out), move.Words[T](src), tensor.Elems[int64](idx), width)
}

func (sized[T]) along(out, src, idx *tensor.Dense, outer, n, m, inner int) error {
	if idx.DType() == dtype.Int32 {
		return gather.AlongAxis(move.Words[T](out), move.Words[T](src), tensor.Elems[int32](idx), outer, n, m, inner)
	}
	return gather.AlongAxis(move.Words[T](out), move.Words[T](src), tensor.Elems[int64](idx), outer, n, m, inner)
}

func (sized[T]) update(dst, updates, idx *tensor.Dense, width int) error {
	if idx.DType() == dtype.Int32 {
		return gather.Update(move.Words[T](dst), move.Words[T](updates), tensor.Elems[int32](idx), width)
	}
	return gather.Update(move.Words[T](dst), move.Words[T](updates), tensor.Elems[int64](idx), width)
}

func (sized[T]) compact(out, src *tensor.Dense, mask []bool, width int) {
	gather.Compact(move.Words[T](out), move.Words[T](src), mask, width)
}

// isIndex reports whether a type is one of positions and sizes.
func isIndex(d dtype.DType) bool { return d == dtype.Int32 || d == dtype.Int64 }

// wantIndex fails where tensor argument i is not int32 or int64.
func wantIndex(c *op.Call, i int) error {
	switch d := c.Tensor(i).DType(); {
	case isIndex(d):
		return nil
	default:
		e := c.Errorf(tenon.ErrDType, "%s has the element type %v, want int32 or int64", c.Op.Params[i].Name, d)
		if d.IsInteger() {
			e.Hint = "convert it with ops.Cast"
		}
		return e
	}
}

// sizes reads operand i, a vector of sizes. dims is nil where they are not
// known; n is their number, -1 where not even that is known.
func sizes(c *op.Call, i int) (dims []int, n int, err error) {
	if err := wantIndex(c, i); err != nil {
		return nil, 0, err
	}
	s := c.Tensor(i).Shape()
	if s.HasRank() && s.Rank() != 1 {
		return nil, 0, c.Errorf(tenon.ErrShape, "%s has shape %v, want a vector", c.Op.Params[i].Name, s)
	}
	if dims, ok := c.ConstInts(i); ok {
		return append([]int{}, dims...), len(dims), nil // a scalar's sizes are known: not nil
	}
	return nil, s.Dim(0), nil
}

// count reads operand i, a single size that is at least 0; n is -1 where it is
// not known.
func count(c *op.Call, i int) (n int, err error) {
	n, ok, err := scalarInt(c, i)
	if err != nil || !ok {
		return -1, err
	}
	if n < 0 {
		return 0, c.Errorf(tenon.ErrInvalid, "%s is %d, want at least 0", c.Op.Params[i].Name, n)
	}
	return n, nil
}

// scalarInt reads operand i, a single integer.
func scalarInt(c *op.Call, i int) (n int, known bool, err error) {
	if err := wantIndex(c, i); err != nil {
		return 0, false, err
	}
	if s := c.Tensor(i).Shape(); s.HasRank() && s.Rank() != 0 {
		return 0, false, c.Errorf(tenon.ErrShape, "%s has shape %v, want a scalar", c.Op.Params[i].Name, s)
	}
	t, ok := c.Const(i)
	if !ok {
		return 0, false, nil
	}
	if t.DType() == dtype.Int32 {
		return int(tensor.Data[int32](t)[0]), true, nil
	}
	return tensor.Data[int](t)[0], true, nil
}

// maxBytes is more than any machine's memory.
const maxBytes = 1 << 46

// checkedShape returns the shape with sizes from data, and an error where it has
// a negative size or more elements than memory has bytes.
func checkedShape(c *op.Call, dims []int, d dtype.DType) (shape.Shape, error) {
	s, err := shape.From(dims)
	if err != nil {
		return s, c.Errorf(tenon.ErrShape, "%s", strings.TrimPrefix(err.Error(), "shape: "))
	}
	return checkedSize(c, s, d)
}

// checkedSize is checkedShape for sizes that are a shape already.
func checkedSize(c *op.Call, s shape.Shape, d dtype.DType) (shape.Shape, error) {
	for i := range s.Rank() {
		if n := s.Dim(i); n < 0 {
			return s, c.Errorf(tenon.ErrShape, "size %d of axis %d is negative", n, i)
		}
	}
	if n, err := s.CheckedSize(max(1, d.Size())); err != nil || n > maxBytes/max(1, d.Size()) {
		return s, c.Errorf(tenon.ErrShape, "%v%v is more than memory holds", d, s)
	}
	return s, nil
}

// outShape returns the inferred shape of result i of a kernel's call.
func outShape(c *op.Call, i int) shape.Shape { return c.Out[i].(*tensor.Spec).Shape() }

// indexError completes an error about indices in operand i: it names the element.
func indexError(c *op.Call, i int, err error) error {
	e, ok := err.(*gather.IndexError)
	if !ok {
		return err
	}
	f := c.Errorf(tenon.ErrInvalid, "index %d is outside [0, %d)", e.Index, e.Limit)
	f.Where = c.Op.Params[i].Name + coordinates(c.Tensor(i).Shape(), e.Pos)
	return f
}
