package masked

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// scattered combines elements with others; if one of them is missing, the result is missing.
func scattered(c *op.Call) ([]tenon.Value, error) {
	values, masks := parts(c)
	if len(masks) == 0 {
		return nil, op.NotHandled
	}
	gone := c.Values()
	k := 0
	for i, v := range c.Operands() {
		if !c.Op.Control.Has(i) {
			gone[k] = ops.Cast(IsMissing(v.(tensor.Tensor)), dtype.Int64) // 1 where an element is missing
			if c.Op.Monoid == op.Minima {                                 // the minimum of the negated values
				gone[k] = ops.Neg(gone[k])
			}
		}
		k++
	}
	return op.One(wrap(op.Apply(c, values...), ops.Equal(op.Apply(c, gone...), int64(0))))
}
