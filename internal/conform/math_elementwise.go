package main

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	fs := map[string]cases.Func{
		"math.rint": one(func(c *cases.Case) any { return ops.Round(c.Tensor(0)) }),
		"math.elu":  one(func(c *cases.Case) any { return ops.Elu(c.Tensor(0), 1) }),
		"math.clip": one(func(c *cases.Case) any { return ops.Clip(c.Tensor(0), number(c, "min"), number(c, "max")) }),
		"math.cast": one(func(c *cases.Case) any { return ops.Cast(c.Tensor(0), c.AttrDType("dtype", dtype.None)) }),
	}
	// The rest are called by the names that the operations are registered with.
	for _, name := range []string{
		"exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh",
		"asinh", "acosh", "atanh", "erf", "erfc", "lgamma", "digamma", "sigmoid", "log_sigmoid", "softplus", "relu", "relu6", "gelu",
		"gelu_tanh", "silu", "sqrt", "rsqrt", "cbrt", "reciprocal", "floor", "ceil", "round", "trunc", "sign", "abs", "neg", "square",
		"is_nan", "is_inf", "is_finite", "bitwise_not", "logical_not",
	} {
		fs["math."+name] = byName(name, 1)
	}
	for _, name := range []string{
		"add", "sub", "mul", "div", "floor_div", "mod", "pow", "atan2", "hypot", "xlogy", "squared_difference", "maximum", "minimum",
		"equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "bitwise_and", "bitwise_or", "bitwise_xor",
		"left_shift", "right_shift", "logical_and", "logical_or", "logical_xor",
	} {
		fs["math."+name] = byName(name, 2)
	}
	cases.Handle(fs)
}

// byName calls a registered operation with the case's arguments.
func byName(name string, operands int) cases.Func {
	return one(func(c *cases.Case) any {
		o, _ := op.Lookup(name)
		if operands == 1 {
			return op.Eval(o, c.Tensor(0))
		}
		return op.Eval(o, c.Tensor(0), c.Tensor(1))
	})
}

// number returns an attribute that is a number, as a scalar tensor is taken, or nil.
func number(c *cases.Case, name string) any {
	if !c.Has(name) {
		return nil
	}
	switch x := c.Attrs[name].(type) {
	case tensor.Tensor, int:
		return x
	}
	return cases.Float(c.Attrs[name])
}
