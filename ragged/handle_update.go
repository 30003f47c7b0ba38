package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/tensor"
)

// indexUpdate writes to the elements that keys select. It finds their positions by applying the
// keys to the numbers of all elements.
func indexUpdate(c *op.Call) ([]tenon.Value, error) {
	keys := tenon.Must(key.Of(c, 2))
	x, ok := op.Arg[*Tensor](c, 0)
	y, ok2 := c.Value(1).(tensor.Tensor)
	if !ok || !ok2 || !taken(y) {
		return nil, op.NotHandled
	}
	return op.One(updated(x, y, keys))
}

// updated writes y to the part of x that keys select.
func updated(x *Tensor, y tensor.Tensor, keys []key.Key) tensor.Tensor {
	flat := x.flat
	if flat.Shape().Rank() != 1 {
		flat = ops.Reshape(flat, []int{-1})
	}
	all := x.with(reshapedLike(numbers(outerSize(flat)), x.flat))
	at := index(all, keys)
	if y.DType() != x.DType() {
		y = ops.Cast(y, x.DType())
	}
	var values tensor.Tensor
	places, _ := split(at)
	if y.Shape().IsScalar() {
		values = like(at, y)
	} else {
		var err error
		values, err = BroadcastTo(y, ShapeOf(at))
		tenon.Throw(inNameOf("ops.IndexUpdate", err))
	}
	news, _ := split(values)
	out := ops.TensorScatterUpdate(flat, ops.ExpandDims(ops.Reshape(places, []int{-1}), 1), ops.Reshape(news, []int{-1}))
	return x.with(reshapedLike(out, x.flat))
}

// reshapedLike gives the elements of a vector the shape of another tensor.
func reshapedLike(v, like tensor.Tensor) tensor.Tensor {
	if like.Shape().Rank() == 1 {
		return v
	}
	if s := like.Shape(); s.IsFull() {
		return ops.Reshape(v, s)
	}
	return ops.Reshape(v, ops.Shape(like))
}

// putAlongAxis writes or adds an element along an axis for each index.
func putAlongAxis(c *op.Call) ([]tenon.Value, error) {
	x, ok := op.Arg[*Tensor](c, 0)
	at, ok2 := c.Value(1).(tensor.Tensor)
	y, ok3 := c.Value(2).(tensor.Tensor)
	if !ok || !ok2 || !ok3 || !taken(at) || !taken(y) {
		return nil, op.NotHandled
	}
	k := len(x.parts)
	if rankOf(at) != x.rank() || rankOf(y) != x.rank() {
		return nil, c.Errorf(tenon.ErrShape, "tensor, indices and updates have the ranks %d, %d and %d", x.rank(), rankOf(at), rankOf(y))
	}
	i, u := atLeast(at, k).(*Tensor), atLeast(y, k).(*Tensor)
	axis := axisOf(c, x)
	samePartitions(c.Op.Func(), i.parts[:k], u.parts)
	for a := range k {
		if a+1 != axis {
			tenon.Throw(sameRows(c.Op.Func(), x.parts[a], i.parts[a]))
		}
	}
	var places tensor.Tensor
	switch {
	case axis > k:
		places = ops.Cast(i.flat, dtype.Int64)
		out := tenon.Must(c.WithArg(0, x.flat).WithArg(1, places).WithArg(2, u.flat).WithArg(3, axis-k).Do())
		return op.One(x.with(out[0].(tensor.Tensor)))
	case axis == k:
		places = absoluteIn(c, x.parts[k-1], i.parts[k-1], i.flat)
	default:
		places = acrossRows(x, i, axis)
	}
	put := ops.PutAlongAxis
	if c.Bool(4) {
		put = ops.AddAlongAxis
	}
	return op.One(x.with(put(x.flat, places, u.flat, 0)))
}
