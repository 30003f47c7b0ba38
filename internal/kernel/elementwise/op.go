package elementwise

import "fmt"

// Op names an elementwise function.
type Op uint8

// The functions, grouped by the accessor that returns their kernels. Formulas, where needed, are in
// the files of the kernels.
const (
	None Op = iota

	// One operand, result of the same type: see [Unary].
	Abs
	Neg
	Sign
	Reciprocal
	Square
	Sqrt
	Rsqrt
	Cbrt
	Exp
	Exp2
	Expm1
	Log
	Log2
	Log10
	Log1p
	Sin
	Cos
	Tan
	Asin
	Acos
	Atan
	Sinh
	Cosh
	Tanh
	Asinh
	Acosh
	Atanh
	Erf
	Erfc
	Erfinv
	Ndtri
	Lgamma
	Digamma
	Floor
	Ceil
	Round
	Trunc
	Sigmoid
	LogSigmoid
	Softplus
	Softsign
	Relu
	Relu6
	Selu
	Gelu
	GeluTanh
	Silu
	Mish
	HardSigmoid
	HardSilu
	Conj
	LogicalNot
	BitwiseNot
	Popcount

	// Two operands, result of the same type: see [Binary].
	Add
	Sub
	Mul
	Div
	FloorDiv
	Mod
	TruncDiv
	TruncMod
	Pow
	Maximum
	Minimum
	Atan2
	Hypot
	SquaredDifference
	Xlogy
	Xlog1py
	LogAddExp
	NextAfter
	LeakyRelu
	Elu
	LogicalAnd
	LogicalOr
	LogicalXor
	BitwiseAnd
	BitwiseOr
	BitwiseXor
	LeftShift
	RightShift

	// Two operands, boolean result: see [Compare].
	Equal
	NotEqual
	Less
	LessEqual
	Greater
	GreaterEqual

	// One operand, boolean result: see [Predicate].
	IsNaN
	IsInf
	IsFinite

	// Three operands, result of the same type: see [Ternary].
	FMA
	Lerp
	Clip

	// One complex operand, real result: see [Part].
	RealPart
	ImagPart
	Angle
	Modulus

	opCount
)

var opNames = [opCount]string{
	None: "none",
	Abs:  "abs", Neg: "neg", Sign: "sign", Reciprocal: "reciprocal", Square: "square",
	Sqrt: "sqrt", Rsqrt: "rsqrt", Cbrt: "cbrt",
	Exp: "exp", Exp2: "exp2", Expm1: "expm1", Log: "log", Log2: "log2", Log10: "log10", Log1p: "log1p",
	Sin: "sin", Cos: "cos", Tan: "tan", Asin: "asin", Acos: "acos", Atan: "atan",
	Sinh: "sinh", Cosh: "cosh", Tanh: "tanh", Asinh: "asinh", Acosh: "acosh", Atanh: "atanh",
	Erf: "erf", Erfc: "erfc", Erfinv: "erfinv", Ndtri: "ndtri", Lgamma: "lgamma", Digamma: "digamma",
	Floor: "floor", Ceil: "ceil", Round: "round", Trunc: "trunc",
	Sigmoid: "sigmoid", LogSigmoid: "log_sigmoid", Softplus: "softplus", Softsign: "softsign",
	Relu: "relu", Relu6: "relu6", Selu: "selu", Gelu: "gelu", GeluTanh: "gelu_tanh",
	Silu: "silu", Mish: "mish", HardSigmoid: "hard_sigmoid", HardSilu: "hard_silu",
	Conj: "conj", LogicalNot: "logical_not", BitwiseNot: "bitwise_not", Popcount: "popcount",
	Add: "add", Sub: "sub", Mul: "mul", Div: "div", FloorDiv: "floor_div", Mod: "mod",
	TruncDiv: "truncate_div", TruncMod: "truncate_mod", Pow: "pow", Maximum: "maximum", Minimum: "minimum",
	Atan2: "atan2", Hypot: "hypot", SquaredDifference: "squared_difference",
	Xlogy: "xlogy", Xlog1py: "xlog1py", LogAddExp: "log_add_exp", NextAfter: "nextafter", LeakyRelu: "leaky_relu", Elu: "elu",
	LogicalAnd: "logical_and", LogicalOr: "logical_or", LogicalXor: "logical_xor",
	BitwiseAnd: "bitwise_and", BitwiseOr: "bitwise_or", BitwiseXor: "bitwise_xor",
	LeftShift: "left_shift", RightShift: "right_shift",
	Equal: "equal", NotEqual: "not_equal", Less: "less", LessEqual: "less_equal",
	Greater: "greater", GreaterEqual: "greater_equal",
	IsNaN: "is_nan", IsInf: "is_inf", IsFinite: "is_finite",
	FMA: "fma", Lerp: "lerp", Clip: "clip",
	RealPart: "real", ImagPart: "imag", Angle: "angle", Modulus: "modulus",
}

// String returns the function's name in snake case, the name of the corresponding operation.
func (op Op) String() string {
	if op >= opCount {
		return fmt.Sprintf("elementwise.Op(%d)", uint8(op))
	}
	return opNames[op]
}

// Ops returns all functions in order.
func Ops() []Op {
	all := make([]Op, 0, opCount-1)
	for op := None + 1; op < opCount; op++ {
		all = append(all, op)
	}
	return all
}
