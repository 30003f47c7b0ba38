package rows

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

var tailsOp *op.Op

func init() {
	tailsOp = op.Register(&op.Op{
		Name: "ragged.tails", Statement: moves(op.Window, two), Doc: "What follows each value in its row.",
		Params: append(append([]op.Param{}, valuesParams...), op.Param{Name: "itself", Kind: op.Attr, Type: op.BoolType, Default: false}), Results: 2,
		Infer: func(c *op.Call) ([]tenon.Spec, error) {
			_, item, err := rowsOf(c)
			if err != nil {
				return nil, err
			}
			n := c.Tensor(0).Shape().Dim(0)
			return specs(spec(c.Tensor(0).DType(), outer(shape.Unknown, item)), spec(c.Tensor(1).DType(), shape.Of(plusOne(n))))
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			x := c.Tensor(0)
			splits, err := partitionOf(c, 1, lead(x))
			if err != nil {
				return nil, err
			}
			lent, starts := lend(lead(x))
			defer lent.Release()
			to, out := fresh(lead(x) + 1)
			total, err := segment.TailSplits(out, starts, splits, c.Bool(2))
			if err != nil {
				return nil, rowError(c, "row", err)
			}
			s := outer(int(total), x.Shape().Tail(1))
			if err := checkedSize(c, s, x.DType()); err != nil {
				return nil, err
			}
			t, err := splitsIn(c, c.Tensor(1).DType(), to)
			return []tensor.Tensor{rowsFrom(x, s, out, starts), t}, err
		},
		VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
			g := make([]tensor.Tensor, len(c.Values()))
			if ct[0] != nil {
				n := ops.Index(ops.Shape(c.Tensor(0)), 0)
				at := op.EvalN(tailsOp, ops.Range(0, n, 1), c.Value(1), c.Bool(2))
				g[0] = scattered(c, ct[0], at[0])
			}
			return g
		},
	})
}

// Tails returns for each value the values behind it in its row, one list behind the other,
// and the splits of those lists; with itself, each value is the first of its own. The lists
// are rows whose values have tails again.
//
//	values: [nvals, a], splits → [m, a], int[nvals+1], any element type.
//	Gradient: each value gets the sum of the cotangents of its copies.
func Tails(values, splits any, itself bool) (outValues, outSplits tensor.Tensor) {
	out := op.EvalN(tailsOp, values, splits, itself)
	return out[0], out[1]
}
