package ops

import (
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/gather"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A mover holds the kernels that move elements of one size.
type mover interface {
	rows(out, src, idx *tensor.Dense, width int) error
	along(out, src, idx *tensor.Dense, outer, n, m, inner int) error
	update(dst, updates *tensor.Dense, at []int64, width int) error
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

func (sized[T]) update(dst, updates *tensor.Dense, at []int64, width int) error {
	return gather.Update(move.Words[T](dst), move.Words[T](updates), at, width)
}

func (sized[T]) compact(out, src *tensor.Dense, mask []bool, width int) {
	gather.Compact(move.Words[T](out), move.Words[T](src), mask, width)
}

// sizeParam is a parameter for a single size, optionalSize one that may be omitted, and sizesParam
// one for a list of sizes.
func sizeParam(name string) op.Param { return op.Param{Name: name, Takes: op.Indices, Rank: op.Scalar} }

func optionalSize(name string) op.Param {
	p := sizeParam(name)
	p.Optional = true
	return p
}

func sizesParam(name string) op.Param {
	return op.Param{Name: name, Takes: op.Indices, Rank: op.Vector}
}

// sizes reads operand i, a vector of sizes. dims is nil if they are not known; n
// is their number, or -1 if not even that is known.
func sizes(c *op.Call, i int) (dims []int, n int) {
	if dims, ok := c.ConstInts(i); ok {
		if dims == nil {
			dims = []int{} // the sizes of a scalar are known
		}
		return dims, len(dims)
	}
	return nil, c.Tensor(i).Shape().Dim(0)
}

// count reads operand i, a single nonnegative size; n is -1 if it is not known or
// omitted.
func count(c *op.Call, i int) (n int, err error) {
	n, ok := scalarInt(c, i)
	if !ok {
		return -1, nil
	}
	if n < 0 {
		return 0, c.Errorf(tenon.ErrInvalid, "%s is %d, want at least 0", c.Op.Params[i].Name, n)
	}
	return n, nil
}

// scalarInt reads operand i, a single integer, if it is known.
func scalarInt(c *op.Call, i int) (n int, known bool) {
	if !c.Has(i) {
		return 0, false
	}
	if l, ok := c.ConstInts(i); ok {
		return l[0], true
	}
	return 0, false
}

// shapeFrom reads operand i, the sizes of a tensor, as far as they are known.
func shapeFrom(c *op.Call, i int) (shape.Shape, error) {
	dims, n := sizes(c, i)
	if dims == nil {
		return shape.OfRank(n), nil
	}
	return shapeOf(c, dims)
}

// shapeOf returns a shape whose sizes come from data.
func shapeOf(c *op.Call, dims []int) (shape.Shape, error) {
	s, err := shape.From(dims)
	if i := slices.IndexFunc(dims, func(d int) bool { return d < 0 }); i >= 0 {
		return s, c.Errorf(tenon.ErrShape, "size %d of axis %d is negative", dims[i], i)
	}
	if err != nil {
		return s, c.Errorf(tenon.ErrShape, "%s", strings.TrimPrefix(err.Error(), "shape: "))
	}
	return s, nil
}

// outShape returns the inferred shape of result i of a kernel's call.
func outShape(c *op.Call, i int) shape.Shape { return c.Out[i].(*tensor.Spec).Shape() }

// indexError completes an error about indices in operand i by naming the element.
func indexError(c *op.Call, i int, err error) error {
	e, ok := err.(*gather.IndexError)
	if !ok {
		return err
	}
	return c.Errorf(tenon.ErrInvalid, "index %d is outside [0, %d)", e.Index, e.Limit).At(c.Op.Params[i].Name + coordinates(c.Tensor(i).Shape(), e.Pos))
}
