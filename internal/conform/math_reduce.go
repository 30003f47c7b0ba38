package main

import (
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	cases.Handle(map[string]cases.Func{
		"math.reduce_sum":      reduced(ops.Sum, ops.SumKeep),
		"math.reduce_mean":     reduced(ops.Mean, ops.MeanKeep),
		"math.reduce_prod":     reduced(ops.Prod, ops.ProdKeep),
		"math.reduce_max":      reduced(ops.Max, ops.MaxKeep),
		"math.reduce_min":      reduced(ops.Min, ops.MinKeep),
		"math.reduce_variance": reduced(ops.Variance, ops.VarianceKeep),
		"math.reduce_std":      reduced(ops.Std, ops.StdKeep),
		"math.reduce_any":      reduced(ops.Any, ops.AnyKeep),
		"math.reduce_all":      reduced(ops.All, ops.AllKeep),
		"math.logsumexp":       reduced(ops.LogSumExp, ops.LogSumExpKeep),
		"math.argmax":          one(func(c *cases.Case) any { return ops.ArgMax(c.Tensor(0), c.AttrInt("axis", 0)) }),
		"math.argmin":          one(func(c *cases.Case) any { return ops.ArgMin(c.Tensor(0), c.AttrInt("axis", 0)) }),
		"math.cumsum":          running(ops.CumSum),
		"math.cumprod":         running(ops.CumProd),
	})
}

// reduced calls a reduction, or the form of it that keeps the axes.
func reduced(drop, keep func(x any, axes ...int) tensor.Tensor) cases.Func {
	return one(func(c *cases.Case) any {
		if c.AttrBool("keepdims", false) {
			return keep(c.Tensor(0), c.AttrInts("axis")...)
		}
		return drop(c.Tensor(0), c.AttrInts("axis")...)
	})
}

func running(f func(x any, axis int, o ops.CumOptions) tensor.Tensor) cases.Func {
	return one(func(c *cases.Case) any {
		return f(c.Tensor(0), c.AttrInt("axis", 0), ops.CumOptions{Exclusive: c.AttrBool("exclusive", false), Reverse: c.AttrBool("reverse", false)})
	})
}
