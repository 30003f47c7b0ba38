package masked

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// missing returns 1 where an element is missing, and 0 elsewhere.
func missing(v tenon.Value) tensor.Tensor {
	return ops.Cast(IsMissing(v.(tensor.Tensor)), dtype.Int64)
}

// zerosAdded is structural for operations that add zeros, which are there.
func zerosAdded(c *op.Call) ([]tenon.Value, error) {
	x, ok := c.Value(0).(*Tensor)
	if !ok {
		return nil, op.NotHandled
	}
	gone, err := c.WithArg(0, ops.LogicalNot(x.Full())).Do()
	if err != nil {
		return nil, err
	}
	out, err := c.WithArg(0, x.values).Do()
	if err != nil {
		return nil, err
	}
	return op.One(wrap(out[0].(tensor.Tensor), ops.LogicalNot(gone[0].(tensor.Tensor))))
}

// scattered adds up updates into zeros: where a missing one is among them, the sum is
// missing.
func scattered(c *op.Call) ([]tenon.Value, error) {
	u, ok := c.Value(1).(*Tensor)
	if !ok {
		return nil, op.NotHandled
	}
	out, err := c.WithArg(1, filled(u, 0)).Do()
	if err != nil {
		return nil, err
	}
	gone := ops.ScatterND(c.Args[0], missing(u), c.Args[2])
	return op.One(wrap(out[0].(tensor.Tensor), ops.Equal(gone, int64(0))))
}

// updated writes elements into a tensor: an element that is replaced is there if the
// new one is, and one that is combined with others if all of them are.
func updated(c *op.Call) ([]tenon.Value, error) {
	at := c.Op.Param("updates")
	if at < 0 {
		at = c.Op.Param("y")
	}
	x, u := c.Value(0), c.Value(at)
	values := c
	for i, v := range map[int]tenon.Value{0: x, at: u} {
		if t, ok := v.(*Tensor); ok {
			values = values.WithArg(i, t.values)
		}
	}
	if values == c { // only the places are missing
		return nil, op.NotHandled
	}
	out, err := values.Do()
	if err != nil {
		return nil, err
	}
	var gone tensor.Tensor
	switch c.Op.Name {
	case "tensor_scatter_add", "tensor_scatter_max", "tensor_scatter_min":
		gone = ops.TensorScatterMax(missing(x), c.Value(1), missing(u))
	default: // where put_along_axis adds, it adds up what is missing too
		all, err := c.WithArg(0, missing(x)).WithArg(at, missing(u)).Do()
		if err != nil {
			return nil, err
		}
		gone = all[0].(tensor.Tensor)
	}
	return op.One(wrap(out[0].(tensor.Tensor), ops.Equal(gone, int64(0))))
}
