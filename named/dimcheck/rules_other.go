package dimcheck

import (
	"maps"
	"slices"
)

// otherRules are those of functions outside of package named: they pass named tensors,
// and functions of them, through.
var otherRules map[string]rule

func init() {
	otherRules = map[string]rule{
		"tenon.Must": func(r *ruleCall) *val { return r.arg(0) },
		"tenon.Try": func(r *ruleCall) *val {
			return tuple([]*val{r.c.apply(r.f, r.at, r.arg(0), nil)})
		},
		"function.New": func(r *ruleCall) *val { return r.arg(0) },
		"function.Function.CallContext": func(r *ruleCall) *val {
			args, known := r.list(2)
			if !known {
				return anything
			}
			out := r.c.apply(r.f, r.at, r.arg(0), args)
			return tuple([]*val{{Kind: groupKind, Fields: map[string]*val{"0": orAnything(out)}}, anything})
		},
		"function.Function.Trace":    tracedRule,
		"function.Function.Concrete": tracedRule,
		"grad.Of":                    func(r *ruleCall) *val { return giving(r.arg(0), itsGradient) },
		"grad.ValueAndGrad":          func(r *ruleCall) *val { return giving(r.arg(0), resultAndGradient) },
		"grad.Checkpoint":            func(r *ruleCall) *val { return r.arg(0) },
		"grad.StopGradient":          func(r *ruleCall) *val { return r.arg(0) },
		"ops/key.At":                 func(r *ruleCall) *val { return r.arg(0) },
		"ops/key.Range":              func(r *ruleCall) *val { return rangeOf(r.arg(0), r.arg(1), r.arg(2)) },
		"ops/key.From":               func(r *ruleCall) *val { return rangeOf(r.arg(0), nil, nil) },
		"ops/key.To":                 func(r *ruleCall) *val { return rangeOf(nil, r.arg(0), nil) },
	}
	maps.Copy(otherRules, controlRules())
	maps.Copy(otherRules, modelRules())
}

// tracedRule runs a function with arguments that stand for others of their dimensions.
func tracedRule(r *ruleCall) *val {
	if args, known := r.list(1); known {
		r.c.apply(r.f, r.at, r.arg(0), args)
	}
	return tuple([]*val{anything, anything})
}

func giving(fn *val, g gives) *val {
	if fn == nil || fn.Kind != funcKind || fn.Func.Gives != itsResult {
		return anything
	}
	f := *fn.Func
	f.Gives = g
	return &val{Kind: funcKind, Func: &f}
}

// plainOps are functions of package ops of one tensor that work element by element.
var plainOps = []string{
	"Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh", "Digamma", "Elu", "Erf", "Erfc", "Exp", "Expm1",
	"Floor", "Gelu", "GeluTanh", "Lgamma", "Log", "Log1p", "LogicalNot", "Logit", "Neg", "Reciprocal", "Relu", "Relu6", "Round",
	"Angle", "Cast", "Cbrt", "Conj", "Erfinv", "Exp2", "HardSigmoid", "HardSilu", "Identity", "Imag", "IsFinite", "IsInf", "IsNaN", "LeakyRelu",
	"Log10", "Log2", "LogSigmoid", "Mish", "NaNToNum", "Ndtri", "OnesLike", "Popcount", "Real", "StopGradient", "Trunc", "ZerosLike",
	"Rsqrt", "Selu", "Sigmoid", "Sign", "Silu", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Square", "Tan", "Tanh",
}

// plainPairs are functions of package ops of two tensors that work element by element.
var plainPairs = []string{
	"BitwiseAnd", "BitwiseOr", "BitwiseXor", "Complex", "Hypot", "LeftShift", "NextAfter", "RightShift", "SigmoidCrossEntropy",
	"TruncateDiv", "TruncateMod", "Xlog1py", "Xlogy", "Add", "Atan2", "Div", "Equal", "FloorDiv", "Greater", "GreaterEqual", "Less", "LessEqual", "LogicalAnd", "LogicalOr", "LogicalXor",
	"Maximum", "Minimum", "Mod", "Mul", "NotEqual", "Pow", "SquaredDifference", "Sub",
}

// plainReductions are functions of package ops that reduce all dimensions.
var plainReductions = []string{"All", "Any", "CountNonzero", "LogSumExp", "Max", "Mean", "Min", "Prod", "Std", "Sum", "Variance"}

// plainOp is the rule of functions of package ops that take named tensors.
func (r *ruleCall) plainOp(name string) *val {
	switch {
	case slices.Contains(plainOps, name):
		if x, ok := r.tensor(0); ok {
			return r.same(x)
		}
	case slices.Contains(plainPairs, name):
		return r.elementwise(0, 1)
	case slices.Contains(plainReductions, name):
		if x, ok := r.tensor(0); ok {
			if axes, known := r.list(1); known && len(axes) == 0 {
				return r.result(nil, x)
			}
		}
	}
	return anything
}
