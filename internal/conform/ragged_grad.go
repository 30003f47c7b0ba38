package main

import (
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
			return ops.Attention(x.args[0], x.args[1], x.args[2], ops.AttentionOptions{Causal: x.AttrBool("causal", false)})
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
