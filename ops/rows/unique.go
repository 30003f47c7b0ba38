package rows

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/internal/kernel/str"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// keyButLast selects all row splits but the last: the starts of the rows.
var keyButLast = key.To(-1)

var uniqueOp = op.Register(&op.Op{
	Name: "ragged.unique_index", Statement: opaque("the number of results depends on the elements"), Doc: "The distinct values of each row, as an index.", Nondifferentiable: true,
	Params: valuesParams, Results: 4,
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		return specs(ends(c, 1, vectorRows(c)), positions(shape.Unknown), positions(shape.Unknown), positions(length(c, 0)))
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		splits := rowSplits(c, 1, lead(c.Tensor(0)))
		inverse := make([]int64, lead(c.Tensor(0)))
		var d segment.Distinct
		if s, ok := c.Tensor(0).(*tensor.Strings); ok {
			d.Splits, d.First, d.Counts = str.UniqueRows(inverse, move.Column(s), splits)
		} else {
			x := c.Dense(0)
			d = byType[ordered(x).DType()].unique(inverse, ordered(x), splits)
		}
		return results(splitsTensor(c, c.Tensor(1).DType(), d.Splits), tensor.Vector(d.First), tensor.Vector(d.Counts), tensor.Vector(inverse))
	},
})

// UniqueIndex finds the distinct values of each row in the order of their first appearance. It
// returns their row splits, the positions among all values where they first appear (ops.Gather
// returns the values), how often each occurs in its row and, for each value, the number of its
// equal among the distinct values of its row. All NaNs are one value, and so are both zeros.
//
//	values: [nvals], splits → int[rows+1], int64[m], int64[m], int64[nvals], any element type. No gradient.
func UniqueIndex(values, splits any) (outSplits, first, counts, inverse tensor.Tensor) {
	out := op.EvalN(uniqueOp, values, splits)
	return out[0], out[1], out[2], out[3]
}

var runsOp = op.Register(&op.Op{
	Name: "ragged.run_lengths", Statement: opaque("the number of results depends on the elements"), Doc: "The lengths of runs of equal neighbors in each row.", Nondifferentiable: true,
	Params: valuesParams, Results: 2,
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		nrows, _ := rowsOf(c)
		return specs(positions(shape.Unknown), ends(c, 1, nrows))
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		splits := rowSplits(c, 1, lead(c.Tensor(0)))
		var lengths, out []int64
		switch x := c.Tensor(0).(type) {
		case *tensor.Strings:
			inner := innerSize(x)
			lengths, out = segment.RunsFunc(splits, func(i int64) bool {
				for e := range inner {
					if x.At(int(i-1)*inner+e) != x.At(int(i)*inner+e) {
						return false
					}
				}
				return true
			})
		case *tensor.Dense:
			lengths, out = byType[ordered(x).DType()].runs(ordered(x), splits, innerSize(x))
		}
		return results(tensor.Vector(lengths), splitsTensor(c, c.Tensor(1).DType(), out))
	},
})

// RunLengths returns the lengths of the runs of equal neighbors in each row, and the row splits of
// those lengths. NaN differs from its neighbors.
//
//	values: [nvals, a], splits → int64[m], int[rows+1], any element type. No gradient.
func RunLengths(values, splits any) (lengths, outSplits tensor.Tensor) {
	out := op.EvalN(runsOp, values, splits)
	return out[0], out[1]
}
