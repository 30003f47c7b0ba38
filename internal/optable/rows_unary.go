package optable

import (
	"math"
	"math/bits"
	"math/cmplx"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/special"
)

func smooth(r Row) Row { r.Smooth = true; return r }

func tol(t float64, r Row) Row { r.Tol = t; return r }

// withComplex adds complex calls to the row of a holomorphic function.
func withComplex(r Row, f func(x complex128) complex128) Row {
	plain := r.Ref
	for _, d := range Complex {
		for _, s := range Shapes {
			r.Calls = append(r.Calls, Args(UniformSeed(d, s, -0.9, 0.8, 7)))
		}
	}
	r.Ref = func(a []any) []Array {
		x := a[0].(Array)
		for _, v := range x.X {
			if imag(v) != 0 {
				out := Array{Shape: x.Shape, X: make([]complex128, len(x.X))}
				for i, v := range x.X {
					out.X[i] = f(v)
				}
				return []Array{out}
			}
		}
		return plain(a)
	}
	return r
}

// floatsAndInt are the types of functions with values in the real numbers.
var floatsAndInt = append(append([]dtype.DType{}, Floats...), dtype.Int32)

func init() {
	u := func(name string, lo, hi float64, f func(float64) float64) Row {
		return smooth(Unary(name, floatsAndInt, lo, hi, f))
	}
	Add(
		withComplex(u("exp", -3, 3, math.Exp), cmplx.Exp),
		u("exp2", -3, 3, math.Exp2),
		withComplex(u("expm1", -2, 2, math.Expm1), func(x complex128) complex128 { return cmplx.Exp(x) - 1 }),
		withComplex(u("log", 0.1, 9, math.Log), cmplx.Log),
		u("log2", 0.1, 9, math.Log2),
		withComplex(u("log10", 0.1, 9, math.Log10), cmplx.Log10),
		withComplex(u("log1p", -0.6, 3, math.Log1p), func(x complex128) complex128 { return cmplx.Log(1 + x) }),
		withComplex(u("sin", -4, 4, math.Sin), cmplx.Sin),
		withComplex(u("cos", -4, 4, math.Cos), cmplx.Cos),
		withComplex(u("tan", -1, 1, math.Tan), cmplx.Tan),
		withComplex(u("asin", -0.9, 0.9, math.Asin), cmplx.Asin),
		withComplex(u("acos", -0.9, 0.9, math.Acos), cmplx.Acos),
		withComplex(u("atan", -3, 3, math.Atan), cmplx.Atan),
		withComplex(u("sinh", -2, 2, math.Sinh), cmplx.Sinh),
		withComplex(u("cosh", -2, 2, math.Cosh), cmplx.Cosh),
		withComplex(u("tanh", -2, 2, math.Tanh), cmplx.Tanh),
		withComplex(u("asinh", -3, 3, math.Asinh), cmplx.Asinh),
		u("acosh", 1.2, 5, math.Acosh),
		withComplex(u("atanh", -0.8, 0.8, math.Atanh), cmplx.Atanh),
		withComplex(u("reciprocal", 0.3, 4, func(x float64) float64 { return 1 / x }), func(x complex128) complex128 { return 1 / x }),
		withComplex(u("sqrt", 0.1, 9, math.Sqrt), cmplx.Sqrt),
		withComplex(u("rsqrt", 0.1, 9, func(x float64) float64 { return 1 / math.Sqrt(x) }), func(x complex128) complex128 { return 1 / cmplx.Sqrt(x) }),
		u("cbrt", 0.2, 9, math.Cbrt),
		u("erf", -2, 2, math.Erf),
		u("erfc", -2, 2, math.Erfc),
		u("erfinv", -0.9, 0.9, math.Erfinv),
		u("logit", 0.1, 0.9, func(x float64) float64 { return math.Log(x / (1 - x)) }),
		u("ndtri", 0.05, 0.95, func(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }),
		tol(16, u("lgamma", 0.3, 9, func(x float64) float64 { y, _ := math.Lgamma(x); return y })),
		tol(16, u("digamma", 0.3, 9, digamma)),
		withComplex(u("sigmoid", -4, 4, sigmoid), func(x complex128) complex128 { return 1 / (1 + cmplx.Exp(-x)) }),
		u("log_sigmoid", -4, 4, func(x float64) float64 { return math.Log(sigmoid(x)) }),
		u("softplus", -4, 4, func(x float64) float64 { return math.Log1p(math.Exp(x)) }),
		u("softsign", -4, 4, func(x float64) float64 { return x / (1 + math.Abs(x)) }),
		u("selu", -4, 4, func(x float64) float64 {
			const alpha, scale = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
			if x > 0 {
				return scale * x
			}
			return scale * alpha * math.Expm1(x)
		}),
		u("gelu", -4, 4, func(x float64) float64 { return x * math.Erfc(-x/math.Sqrt2) / 2 }),
		u("gelu_tanh", -4, 4, func(x float64) float64 {
			return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
		}),
		u("silu", -4, 4, func(x float64) float64 { return x * sigmoid(x) }),
		u("mish", -4, 4, func(x float64) float64 { return x * math.Tanh(math.Log1p(math.Exp(x))) }),
		u("hard_sigmoid", -4, 4, func(x float64) float64 { return math.Min(math.Max(x+3, 0), 6) / 6 }),
		u("hard_silu", -4, 4, func(x float64) float64 { return x * math.Min(math.Max(x+3, 0), 6) / 6 }),

		smooth(Unary("relu", Reals, -4, 4, func(x float64) float64 { return math.Max(x, 0) })),
		smooth(Unary("relu6", Reals, -4, 9, func(x float64) float64 { return math.Min(math.Max(x, 0), 6) })),
		withComplex(smooth(Unary("square", Reals, -3, 3, func(x float64) float64 { return x * x })), func(x complex128) complex128 { return x * x }),
		withComplex(smooth(Unary("neg", append(append([]dtype.DType{}, Floats...), dtype.Int8, dtype.Int64), -3, 3, func(x float64) float64 { return -x })), func(x complex128) complex128 { return -x }),
		withComplex(smooth(Unary("abs", Reals, -3, 3, math.Abs)), func(x complex128) complex128 { return complex(cmplx.Abs(x), 0) }),
		withComplex(smooth(Unary("sign", Reals, -3, 3, func(x float64) float64 {
			switch {
			case x > 0:
				return 1
			case x < 0:
				return -1
			}
			return x
		})), func(x complex128) complex128 { return x / complex(cmplx.Abs(x), 0) }),
		Unary("floor", Reals, -3, 3, math.Floor),
		Unary("ceil", Reals, -3, 3, math.Ceil),
		Unary("round", Reals, -3, 3, math.RoundToEven),
		Unary("trunc", Reals, -3, 3, math.Trunc),
		Unary("is_nan", Reals, -3, 3, func(x float64) float64 { return 0 }),
		Unary("is_inf", Reals, -3, 3, func(x float64) float64 { return 0 }),
		Unary("is_finite", Reals, -3, 3, func(x float64) float64 { return 1 }),
		nanToNumRow(),
		Unary("logical_not", Bools, 0, 1, func(x float64) float64 { return 1 - x }),
		Unary("bitwise_not", []dtype.DType{dtype.Int8, dtype.Int16, dtype.Int32, dtype.Int64}, -100, 100, func(x float64) float64 { return float64(^int(x)) }),
		Unary("popcount", Ints, 0, 100, func(x float64) float64 { return float64(bits.OnesCount(uint(x))) }),

		complexPart("real", func(x complex128) float64 { return real(x) }),
		complexPart("imag", func(x complex128) float64 { return imag(x) }),
		complexPart("angle", func(x complex128) float64 { return cmplx.Phase(x) }),
		conjRow(),
		alphaRow("leaky_relu", func(x, a float64) float64 {
			if x > 0 {
				return x
			}
			return a * x
		}),
		alphaRow("elu", func(x, a float64) float64 {
			if x > 0 {
				return x
			}
			return a * math.Expm1(x)
		}),
		polygammaRow(),
	)
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// digamma uses a central difference of log Γ with one step of Richardson's
// extrapolation only where no closed form is at hand; shifting up makes it good
// to the last digits.
func digamma(x float64) float64 {
	s := 0.0
	for ; x < 30; x++ {
		s -= 1 / x
	}
	z := 1 / (x * x)
	return s + math.Log(x) - 0.5/x - z*(1./12-z*(1./120-z*(1./252-z/240)))
}

func nanToNumRow() Row {
	r := smooth(Unary("nan_to_num", Reals, -3, 3, func(x float64) float64 { return x }))
	r.Calls = append(r.Calls, NoGrad(Values(dtype.Float64, NaN, 1, Inf, -Inf)))
	plain := r.Ref
	r.Ref = func(a []any) []Array {
		out := plain(a)
		for i, v := range out[0].X {
			switch x := real(v); {
			case x != x:
				out[0].X[i] = 0
			case math.IsInf(x, 0):
				out[0].X[i] = complex(math.Copysign(math.MaxFloat64, x), 0)
			}
		}
		return out
	}
	return r
}

func complexPart(name string, f func(x complex128) float64) Row {
	r := Row{Op: name, Smooth: true, Ref: func(a []any) []Array {
		x := a[0].(Array)
		out := Array{Shape: x.Shape, X: make([]complex128, len(x.X))}
		for i, v := range x.X {
			out.X[i] = complex(f(v), 0)
		}
		return []Array{out}
	}}
	for _, d := range Numbers {
		lo := -3.0
		if d.IsUnsigned() {
			lo = 0
		}
		for _, s := range Shapes {
			r.Calls = append(r.Calls, Args(Uniform(d, s, lo, 3)))
		}
	}
	return r
}

func conjRow() Row {
	r := complexPart("conj", nil)
	r.Ref = func(a []any) []Array {
		x := a[0].(Array)
		out := Array{Shape: x.Shape, X: make([]complex128, len(x.X))}
		for i, v := range x.X {
			out.X[i] = cmplx.Conj(v)
		}
		return []Array{out}
	}
	return r
}

func alphaRow(name string, f func(x, alpha float64) float64) Row {
	r := smooth(Unary(name, floatsAndInt, -3, 3, nil))
	for i := range r.Calls {
		r.Calls[i].Args = append(r.Calls[i].Args, 0.3)
	}
	r.Ref = func(a []any) []Array {
		return []Array{Map(func(x []float64) float64 { return f(x[0], a[1].(float64)) }, a[0].(Array))}
	}
	return r
}

func polygammaRow() Row {
	r := Row{Op: "polygamma", Smooth: true, Tol: 50, Ref: func(a []any) []Array {
		return []Array{Map(func(x []float64) float64 { return special.PolygammaOf(a[1].(int)).At(x[0]) }, a[0].(Array))}
	}}
	for _, d := range floatsAndInt {
		for n := 1; n < 3; n++ {
			r.Calls = append(r.Calls, Args(Uniform(d, []int{2, 3}, 1, 6), n))
		}
	}
	return r
}
