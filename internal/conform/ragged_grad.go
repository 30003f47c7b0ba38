package main

import (
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	asRagged := func(x any) *ragged.Tensor { return cases.As[*ragged.Tensor](x) }
	defineExpressions(map[string]func(x *application) any{
		"ragged.values":          func(x *application) any { return asRagged(x.args[0]).Values() },
		"ragged.from_row_splits": func(x *application) any { return tenon.Must(ragged.FromRowSplits(x.args[0], x.args[1])) },
		"ragged.to_tensor": func(x *application) any {
			return tenon.Must(asRagged(x.args[0]).ToDense(ragged.DenseOptions{Default: x.AttrFloat("default", 0)}))
		},
		"ragged.from_tensor": func(x *application) any {
			return tenon.Must(ragged.FromDense(cases.As[tensor.Tensor](x.args[0]), ragged.FromDenseOptions{Lengths: []any{lengths(x)}}))
		},
		"ragged.gather":       func(x *application) any { return ops.Gather(x.args[0], x.args[1], 0) },
		"ragged.boolean_mask": func(x *application) any { return tenon.Must(ragged.BooleanMask(x.args[0], x.args[1])) },
		"ragged.cumsum":       func(x *application) any { return ops.CumSum(x.args[0], x.AttrInt("axis", 1), ops.CumOptions{}) },
		"ragged.sort":         func(x *application) any { return ops.Sort(x.args[0], x.AttrInt("axis", 1), ops.SortOptions{}) },
		"ragged.matmul":       func(x *application) any { return ops.MatMul(x.args[0], x.args[1]) },
		"ragged.attention": func(x *application) any {
			q, k, v := asRagged(x.args[0]), asRagged(x.args[1]), asRagged(x.args[2])
			scores := ops.MatMulT(q, k, false, true) // [b, (t), (t)]
			scores = ops.Div(scores, math.Sqrt(float64(q.FlatValues().Shape().Dim(1))))
			if x.AttrBool("causal", false) {
				scores = causal(scores.(*ragged.Tensor))
			}
			return ops.MatMul(ops.Softmax(scores, -1), v)
		},
	})
}

func lengths(x *application) any {
	l := x.AttrInts("lengths")
	out := make([]int64, len(l))
	for i, n := range l {
		out[i] = int64(n)
	}
	return out
}

// causal hides the keys that come after each query of a row.
func causal(scores *ragged.Tensor) tensor.Tensor {
	parts := scores.Partitions()
	query := ops.Gather(parts[0].OffsetsInRows(), parts[1].ValueRowIDs(), 0)
	hidden := ops.Greater(parts[1].OffsetsInRows(), query)
	flat := ops.Where(hidden, -1e30, scores.FlatValues())
	return tenon.Must(scores.WithFlatValues(flat))
}
