package rows

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

var validateOp = op.Register(&op.Op{
	Name: "ragged.validate_splits", Statement: op.Statement{Axes: op.Map, Checks: true, Control: two}, Doc: "Row splits, after checking that they are a partition.", Nondifferentiable: true,
	Params: []op.Param{splitsParam, optional(sizeParam("nvals"))}, Results: 1,
	Check: func(c *op.Call) error {
		_, last := partition(c, 0)
		agree(c, tenon.ErrInvalid, "splits ends at %d, there are %d values", last, count(c, 1))
		return nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		n := -1
		if c.Has(1) {
			v, _ := c.ConstInts(1)
			n = v[0]
		}
		rowSplits(c, 0, n)
		return results(c.Tensor(0))
	},
})

// Validate returns row splits. It throws an error unless they are a partition of
// nvals values (an integer or a scalar tensor, or nil for any number): they must
// start at 0, never decrease and end at nvals. The error names the first bad
// entry.
//
//	splits: int[rows+1] → int[rows+1]. No gradient.
func Validate(splits, nvals any) tensor.Tensor { return op.Eval(validateOp, splits, nvals) }

var assertSameOp = op.Register(&op.Op{
	Name: "ragged.assert_same_splits", Statement: op.Statement{Axes: op.Map, Checks: true, Control: two}, Doc: "Row splits, after checking that their rows have the same lengths as others.", Nondifferentiable: true,
	Params: []op.Param{splitsParam, indices("other")}, Results: 1,
	Shape: func(c *op.Call) (shape.Shape, error) {
		a, _ := partition(c, 0)
		b, _ := partition(c, 1)
		return shape.Of(plusOne(agree(c, tenon.ErrInvalid, "there are %d and %d rows", a, b))), nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		if c.Args[0] == c.Args[1] {
			return results(c.Tensor(0))
		}
		a := rowSplits(c, 0, -1)
		b := rowSplits(c, 1, -1)
		if r := segment.FirstDifference(a, b); r >= 0 {
			return nil, c.Errorf(tenon.ErrInvalid, "the rows have %d and %d values", a[r+1]-a[r], b[r+1]-b[r]).At(fmt.Sprintf("row %d", r))
		}
		return results(c.Tensor(0))
	},
})

// AssertSame returns row splits. It throws an error unless other row splits, which may have another
// type, describe rows of the same lengths. The error names the first row that differs.
//
//	splits, other: int[rows+1] → int[rows+1]. No gradient.
func AssertSame(splits, other any) tensor.Tensor { return op.Eval(assertSameOp, splits, other) }
