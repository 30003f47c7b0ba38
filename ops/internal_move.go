package ops

import (
	"strings"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/gather"
	"github.com/tenonml/tenon/internal/kernel/str"
	"github.com/tenonml/tenon/internal/strided"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Structural operations move elements and do not look at them. Their kernels are
// written for dense tensors, most of them as views and one strided copy. Strings
// go the same way by their positions: what moves is a tensor of int64, and the
// strings are gathered by it.

// moved applies a structural kernel to one tensor.
func moved(x tensor.Tensor, f func(d *tensor.Dense) *tensor.Dense) tensor.Tensor {
	if s, ok := x.(*tensor.Strings); ok {
		return picked(s, f(positions(0, s.Shape())))
	}
	return f(x.(*tensor.Dense))
}

// movedList applies a structural kernel to tensors of one element type.
func movedList(xs []tenon.Value, f func(ds []*tensor.Dense) *tensor.Dense) tensor.Tensor {
	ds := make([]*tensor.Dense, len(xs))
	columns := make([]str.Column, 0, len(xs))
	at := 0
	for i, x := range xs {
		switch x := x.(type) {
		case *tensor.Dense:
			ds[i] = x
		case *tensor.Strings:
			ds[i] = positions(at, x.Shape())
			at += x.Len()
			columns = append(columns, column(x))
		}
	}
	out := f(ds)
	if len(columns) == 0 {
		return out
	}
	c := str.Concat(columns...)
	return picked(tensor.WrapStrings(offsetsOf(c), c.Bytes, shape.Of(c.Len())), out)
}

// positions returns at, at+1, … in a shape.
func positions(at int, s shape.Shape) *tensor.Dense {
	d, p := tensor.Make[int64](s)
	for i := range p {
		p[i] = int64(at + i)
	}
	return d
}

// picked returns the strings at positions, which are known to be good.
func picked(s *tensor.Strings, at *tensor.Dense) *tensor.Strings {
	c, err := str.Gather(column(s), tensor.Data[int64](at))
	tenon.Throw(err)
	return tensor.WrapStrings(offsetsOf(c), c.Bytes, at.Shape())
}

// column returns the strings of a tensor for the kernels of package str.
func column(s *tensor.Strings) str.Column {
	return str.Column{Offsets: s.Offsets(), Bytes: s.Buffer()}
}

// offsetsOf returns a column's offsets; a tensor has one even if it has no strings.
func offsetsOf(c str.Column) []int64 {
	if len(c.Offsets) == 0 {
		return []int64{0}
	}
	return c.Offsets
}

// stringTensor returns a column as a tensor.
func stringTensor(c str.Column, s shape.Shape) *tensor.Strings {
	return tensor.WrapStrings(offsetsOf(c), c.Bytes, s)
}

// copyTo copies src into dst, which has the same shape and is not yet published.
func copyTo(dst, src *tensor.Dense) {
	if dst.Len() == 0 {
		return
	}
	strided.Copy(dst.Raw(), src.Raw(), dst.Shape().Dims(), dst.Strides(), src.Strides(), dst.DType().Size())
}

// copied returns a row-major copy.
func copied(x *tensor.Dense) *tensor.Dense {
	out := tensor.NewDense(x.DType(), x.Shape())
	copyTo(out, x)
	return out
}

// rowMajor returns x itself or a copy in row-major order.
func rowMajor(x *tensor.Dense) *tensor.Dense {
	if x.IsContiguous() {
		return x
	}
	return copied(x)
}

// stretched returns a view of x with shape s, to which it broadcasts.
func stretched(x *tensor.Dense, s shape.Shape) *tensor.Dense {
	strides := make([]int, s.Rank())
	off := s.Rank() - x.Rank()
	for i, st := range x.Strides() {
		if x.Dim(i) != 1 {
			strides[off+i] = st
		}
	}
	return x.View(0, s, strides)
}

// words returns a row-major tensor's elements as Ts of the same size, with the
// slack behind them as capacity.
func words[T any](d *tensor.Dense) []T {
	b := d.Bytes()
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), cap(b)/int(unsafe.Sizeof(zero)))[:d.Len()]
}

// A mover has the kernels that move elements of one size.
type mover interface {
	rows(out, src, idx *tensor.Dense, width int) error
	along(out, src, idx *tensor.Dense, outer, n, m, inner int) error
	update(dst, updates, idx *tensor.Dense, width int) error
	compact(out, src *tensor.Dense, mask []bool, width int)
	fill(dst, value *tensor.Dense)
}

type sized[T any] struct{}

var movers = [17]mover{1: sized[uint8]{}, 2: sized[uint16]{}, 4: sized[uint32]{}, 8: sized[uint64]{}, 16: sized[[2]uint64]{}}

func moverOf(d dtype.DType) mover { return movers[d.Size()] }

func (sized[T]) rows(out, src, idx *tensor.Dense, width int) error {
	if idx.DType() == dtype.Int32 {
		return gather.Rows(words[T](out), words[T](src), tensor.Elems[int32](idx), width)
	}
	return gather.Rows(words[T](out), words[T](src), tensor.Elems[int64](idx), width)
}

func (sized[T]) along(out, src, idx *tensor.Dense, outer, n, m, inner int) error {
	if idx.DType() == dtype.Int32 {
		return gather.AlongAxis(words[T](out), words[T](src), tensor.Elems[int32](idx), outer, n, m, inner)
	}
	return gather.AlongAxis(words[T](out), words[T](src), tensor.Elems[int64](idx), outer, n, m, inner)
}

func (sized[T]) update(dst, updates, idx *tensor.Dense, width int) error {
	if idx.DType() == dtype.Int32 {
		return gather.Update(words[T](dst), words[T](updates), tensor.Elems[int32](idx), width)
	}
	return gather.Update(words[T](dst), words[T](updates), tensor.Elems[int64](idx), width)
}

func (sized[T]) compact(out, src *tensor.Dense, mask []bool, width int) {
	gather.Compact(words[T](out), words[T](src), mask, width)
}

// fill sets every element of dst to the single one of value.
func (sized[T]) fill(dst, value *tensor.Dense) {
	copyTo(dst, value.View(0, dst.Shape(), make([]int, dst.Rank())))
}

// wantIndex fails where tensor argument i is not int32 or int64.
func wantIndex(c *op.Call, i int) error {
	switch d := c.Tensor(i).DType(); d {
	case dtype.Int32, dtype.Int64:
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
		return dims, len(dims), nil
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
	v, ok := c.ConstInts(i)
	if !ok {
		return 0, false, nil
	}
	return v[0], true, nil
}

// checkedShape returns the shape with sizes from data, and an error where it has
// a negative size or more elements than memory has bytes.
func checkedShape(c *op.Call, dims []int, d dtype.DType) (shape.Shape, error) {
	s, err := shape.From(dims)
	if err == nil {
		for i, n := range dims {
			if n < 0 {
				return s, c.Errorf(tenon.ErrShape, "size %d of axis %d is negative", n, i)
			}
		}
		_, err = s.CheckedSize(max(1, d.Size()))
	}
	if err != nil {
		return s, c.Errorf(tenon.ErrShape, "%s", strings.TrimPrefix(err.Error(), "shape: "))
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
