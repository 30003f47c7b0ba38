package sparse

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

func matmul(c *op.Call) ([]tenon.Value, error) {
	a, b := c.Value(0).(tensor.Tensor), c.Value(1).(tensor.Tensor)
	ta, _ := c.Attr("transpose_a").(bool)
	tb, _ := c.Attr("transpose_b").(bool)
	y, err := MatMul(flipped(a, ta), flipped(b, tb), MatMulOptions{})
	if err != nil {
		return nil, c.Fail(err)
	}
	return op.One(y)
}

// flipped returns a matrix transposed, if requested, without conjugation.
func flipped(x tensor.Tensor, yes bool) tensor.Tensor {
	if yes {
		return ops.SwapAxes(x, -1, -2)
	}
	return x
}

func matvec(c *op.Call) ([]tenon.Value, error) {
	x, ok := c.Value(0).(*Tensor)
	if !ok {
		return wouldBeDense(c)
	}
	v := c.Value(1).(tensor.Tensor)
	if s, ok := v.(*Tensor); ok {
		v = s.dense(nil)
	}
	return op.One(x.timesVector(v))
}
