package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Choose returns whole rows of x where cond is true, and of y where it is false. Unlike with
// ops.Where, which selects elements, the rows of x and y may have different lengths.
//
//	cond: bool[n], x, y: [n, …] → [n, …]
func Choose(cond, x, y any) (z tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	c, a, b := tenon.Must(tensor.Convert(cond)), tenon.Must(tensor.Convert(x)), tenon.Must(tensor.Convert(y))
	if c.DType() != dtype.Bool || rankOf(c) != 1 {
		return nil, invalid("ragged.Choose", "cond", "is %s, want a boolean vector", tenon.String(c.Spec()))
	}
	if n, k, m := c.Shape().Dim(0), a.Shape().Dim(0), b.Shape().Dim(0); k >= 0 && m >= 0 && k != m || n >= 0 && k >= 0 && n != k {
		return nil, invalid("ragged.Choose", "", "there are %d conditions for %d and %d rows", n, k, m)
	}
	n := ops.Cast(outerSize(a), dtype.Int64)
	at := numbers(n)
	return gatherRows(ops.Concat([]tensor.Tensor{a, b}, 0), ops.Where(c, at, ops.Add(at, n))), nil
}
