package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Operations that treat each entry separately, and those on all elements together. They run on the
// flat values.

func init() {
	handle(onFirst(flatly), "histogram") // all elements are counted together
	handle(onFirst(slice), "slice")      // a range of each row, which ends with the row
	handle(func(c *op.Call) ([]tenon.Value, error) {
		e := c.Errorf(tenon.ErrUnsupported, "the sizes of a ragged tensor are not a list of numbers")
		e.Hint = "ragged.ShapeOf returns them, and Tensor.BoundingShape the largest in each dimension"
		return nil, e
	}, "shape")
}

// flatly runs an operation on the flat values of the first argument. Its results have no
// partitions.
func flatly(c *op.Call, x *Tensor) ([]tenon.Value, error) {
	var room [4]tenon.Value
	values := c.AppendValues(room[:0])
	values[0] = x.flat
	return op.One(op.Apply(c, values...))
}

// flatAt answers an operation on the entries of its first operand that is not Control, whose flat
// values must have at least the given number of inner dimensions.
func flatAt(o *op.Op, inner int) handlerFunc {
	i, k := 0, 0
	for n, p := range o.Params {
		if p.Kind == op.Attr {
			continue
		}
		if !o.Control.Has(k) {
			i = n
			break
		}
		k++
	}
	return func(c *op.Call) ([]tenon.Value, error) {
		x, ok := op.Arg[*Tensor](c, i)
		if !ok {
			return nil, op.NotHandled
		}
		if n := x.flat.Shape().Rank() - 1; n < inner {
			return nil, c.Errorf(tenon.ErrUnsupported, "the operation works on the %d innermost dimensions, which must be uniform; here only %d are", inner, n)
		}
		return op.One(onFlat(c, i, x))
	}
}

// bitcast reads each entry as elements of another type. If that type is wider, the elements of an
// innermost uniform dimension are combined into one.
func bitcast(c *op.Call) ([]tenon.Value, error) {
	inner := 0
	if x, ok := op.Arg[*Tensor](c, 0); ok && c.DType(1).Size() > x.DType().Size() {
		inner = 1
	}
	return flatAt(c.Op, inner)(c)
}

// linearScan runs a recurrence along an axis of two tensors with the same rows.
func linearScan(c *op.Call, a, b tensor.Tensor) ([]tenon.Value, error) {
	parts, flats := align(c.Op.Func(), []tensor.Tensor{a, b})
	if s := flats[0].Shape(); !s.IsFull() || !s.Equal(flats[1].Shape()) { // they must be broadcast first
		flats[0], flats[1] = ops.Add(flats[0], ops.ZerosLike(flats[1])), ops.Add(flats[1], ops.ZerosLike(flats[0]))
	}
	x := build(flats[0], parts).(*Tensor)
	y := x.with(flats[1])
	axis, k := axisOf(c, x), len(parts)
	reverse := c.Bool(3)
	if axis > k {
		return op.One(x.with(ops.LinearScan(x.flat, y.flat, axis-k, reverse)))
	}
	s := x.segments(axis)
	other := y.flat
	if s.from != nil {
		order, _, _ := s.order()
		other = ops.Gather(other, order, 0)
	}
	return op.One(x.with(s.along(x.flat, func(v, splits tensor.Tensor) tensor.Tensor { return rows.LinearScan(v, other, splits, reverse) })))
}

func ensureShape(c *op.Call, x *Tensor) ([]tenon.Value, error) {
	if want := c.Shape(1); !x.Shape().CompatibleWith(want) {
		return nil, c.Errorf(tenon.ErrShape, "the shape is %v, want %v", x.Shape(), want)
	}
	return op.One(x)
}

// slice returns a block: a range of each dimension. In ragged dimensions it is a range of each row,
// cut off at the end of the row.
func slice(c *op.Call, x *Tensor) ([]tenon.Value, error) {
	begin, ok := c.ConstInts(1)
	size, ok2 := c.ConstInts(2)
	if r := x.rank(); !ok || !ok2 || len(begin) != r || len(size) != r {
		return nil, c.Errorf(tenon.ErrInvalid, "begin and size must be %d known integers each", r)
	}
	keys := make([]key.Key, len(begin))
	for i, b := range begin {
		switch n := size[i]; {
		case b < 0 || n < -1:
			return nil, c.Errorf(tenon.ErrInvalid, "begin %d and size %d of axis %d do not describe a block", b, n, i)
		case n == -1:
			keys[i] = key.From(b)
		default:
			if s := x.Shape().Dim(i); s != shape.Unknown && (b > s || n > s-b) {
				return nil, c.Errorf(tenon.ErrInvalid, "the block from %d to %d leaves axis %d of size %d", b, b+n, i, s)
			}
			keys[i] = key.Range(b, b+n, nil)
		}
	}
	return op.One(index(x, keys))
}
