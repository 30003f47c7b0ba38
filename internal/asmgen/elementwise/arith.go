package main

import (
	"math"

	"github.com/tenonml/tenon/internal/asmgen/vec"
)

type (
	machine  = vec.Machine
	vector   = vec.V
	constant = vec.Const
)

// A binary is a function of two operands; commutative ones need one scalar form.
type binary struct {
	name, doc   string
	commutative bool
	f           func(m machine, x, y vector) vector
}

// arithmetic emits the functions of two operands in all forms: two arrays, an
// array and a scalar (VS), a scalar and an array (SV).
func arithmetic(m machine) {
	ops := []binary{
		{"add", "sets dst to x + y.", true, func(m machine, x, y vector) vector { return m.Add(x, y) }},
		{"sub", "sets dst to x - y.", false, func(m machine, x, y vector) vector { return m.Sub(x, y) }},
		{"mul", "sets dst to x · y.", true, func(m machine, x, y vector) vector { return m.Mul(x, y) }},
		{"squaredDifference", "sets dst to (x - y)².", true, machine.SquaredDifference},
	}
	if m.Elem.IsFloat() {
		ops = append(ops,
			binary{"div", "sets dst to x / y.", false, func(m machine, x, y vector) vector { return m.Div(x, y) }},
			binary{"maximum", "sets dst to the greater of x and y, NaN where either is.", true, machine.Maximum},
			binary{"minimum", "sets dst to the lesser of x and y, NaN where either is.", true, machine.Minimum},
			binary{"leakyRelu", "sets dst to x where it is positive and to x · y elsewhere.", false, func(m machine, x, y vector) vector {
				return m.Blend(m.Cmp(vec.Greater, x, m.Zero()), x, m.Mul(x, y))
			}},
			binary{"elu", "sets dst to x where it is positive and to y · (e^x - 1) elsewhere.", false, func(m machine, x, y vector) vector { return m.Elu(x, y) }},
		)
	} else {
		ops = append(ops,
			binary{"maximum", "sets dst to the greater of x and y.", true, func(m machine, x, y vector) vector { return m.Max(x, y) }},
			binary{"minimum", "sets dst to the lesser of x and y.", true, func(m machine, x, y vector) vector { return m.Min(x, y) }},
			binary{"and", "sets dst to x & y.", true, func(m machine, x, y vector) vector { return m.And(x, y) }},
			binary{"or", "sets dst to x | y.", true, func(m machine, x, y vector) vector { return m.Or(x, y) }},
			binary{"xor", "sets dst to x ^ y.", true, func(m machine, x, y vector) vector { return m.Xor(x, y) }},
		)
	}
	for _, op := range ops {
		unroll := 4
		if op.name == "elu" {
			unroll = flight
		}
		body := func(m machine, x []vector) vector { return op.f(m, x[0], x[1]) }
		for _, stream := range variants(m, op.name) {
			m.Map(vec.Loop{Name: op.name, Doc: op.doc, Vectors: "x,y", Unroll: unroll, Stream: stream, Fetch: 2, Body: body})
			m.Map(vec.Loop{Name: op.name + "VS", Doc: op.doc, Vectors: "x", Scalars: "y", Unroll: unroll, Stream: stream, Body: body})
		}
		if !op.commutative && (op.name == "sub" || op.name == "div") {
			m.Map(vec.Loop{Name: op.name + "SV", Doc: op.doc, Vectors: "y", Scalars: "x", Unroll: unroll,
				Body: func(m machine, x []vector) vector { return op.f(m, x[1], x[0]) }})
		}
	}
	if m.Elem.IsFloat() {
		m.Map(vec.Loop{Name: "fma", Doc: "sets dst to x · y + z, rounded once.", Vectors: "x,y,z",
			Body: func(m machine, x []vector) vector { return m.FMA(m.Load(x[0]), x[1], x[2]) }})
		m.Map(vec.Loop{Name: "lerp", Doc: "sets dst to x + z · (y - x).", Vectors: "x,y,z",
			Body: func(m machine, x []vector) vector { return m.Add(m.Mul(m.Sub(x[1], x[0]), x[2]), x[0]) }})
		clip := func(m machine, x []vector) vector { return m.Minimum(m.Maximum(x[0], x[1]), x[2]) }
		m.Map(vec.Loop{Name: "clip", Doc: "sets dst to min(max(x, y), z), NaN where any is.", Vectors: "x,y,z", Unroll: 2, Body: clip})
		m.Map(vec.Loop{Name: "clipVSS", Doc: "sets dst to min(max(x, lo), hi), NaN where any is.", Vectors: "x", Scalars: "lo,hi", Body: clip})
	}
}

// A unary is a function of one operand.
type unary struct {
	name, doc string
	unroll    int
	keep      int
	together  bool
	f         func(m machine, x vector) vector
}

func (u unary) emit(m machine) {
	for _, stream := range variants(m, u.name) {
		m.Map(vec.Loop{Name: u.name, Doc: u.doc, Vectors: "x", Unroll: u.unroll, Keep: u.keep, Together: u.together, Stream: stream,
			Body: func(m machine, x []vector) vector { return u.f(m, x[0]) }})
	}
}

// variants says whether a function is needed through the cache (false), and past it
// (true): that are the common ones of float32.
func variants(m machine, name string) []bool {
	if m.Elem == vec.Float32 {
		switch name {
		case "add", "sub", "mul", "div", "maximum", "relu", "sqrt", "square", "neg", "exp", "log", "tanh", "sigmoid", "silu", "gelu", "geluTanh":
			return []bool{false, true}
		}
	}
	return []bool{false}
}

// simple emits functions of a few instructions.
func simple(m machine) {
	hardSigmoid := func(m machine, x vector) vector {
		t := m.Min(m.Get(constant(6)), m.Max(m.Zero(), m.Add(x, constant(3))))
		return m.Div(t, constant(6))
	}
	for _, u := range []unary{
		{name: "abs", doc: "sets dst to |x|.", f: machine.Abs},
		{name: "neg", doc: "sets dst to -x.", f: machine.Neg},
		{name: "sign", doc: "sets dst to -1, 0, 1 or NaN.", f: machine.Signum},
		{name: "reciprocal", doc: "sets dst to 1 / x.", f: machine.Reciprocal},
		{name: "square", doc: "sets dst to x².", f: machine.Square},
		{name: "sqrt", doc: "sets dst to √x.", f: machine.Sqrt},
		{name: "rsqrt", doc: "sets dst to 1 / √x, rounded twice.", f: machine.Rsqrt},
		{name: "floor", doc: "rounds x toward minus infinity.", f: func(m machine, x vector) vector { return m.Round(vec.Down, x) }},
		{name: "ceil", doc: "rounds x toward plus infinity.", f: func(m machine, x vector) vector { return m.Round(vec.Up, x) }},
		{name: "round", doc: "rounds x to the nearest integer, half to even.", f: func(m machine, x vector) vector { return m.Round(vec.ToNearestEven, x) }},
		{name: "trunc", doc: "rounds x toward zero.", f: func(m machine, x vector) vector { return m.Round(vec.TowardZero, x) }},
		{name: "relu", doc: "sets dst to max(x, 0), NaN where x is.", f: machine.Relu},
		{name: "relu6", doc: "sets dst to min(max(x, 0), 6), NaN where x is.", f: func(m machine, x vector) vector {
			return m.Min(m.Get(constant(6)), m.Relu(x))
		}},
		{name: "hardSigmoid", doc: "sets dst to relu6(x + 3) / 6.", f: hardSigmoid},
		{name: "hardSilu", doc: "sets dst to x · relu6(x + 3) / 6, -0 for x = -Inf.", f: func(m machine, x vector) vector {
			return m.Mul(m.Max(m.Get(constant(-10)), x), hardSigmoid(m, x))
		}},
		{name: "softsign", doc: "sets dst to x / (1 + |x|).", f: func(m machine, x vector) vector {
			// Halves keep the sum finite, and a quarter of the greatest number stands for infinity.
			top := m.Get(constant(math.MaxFloat32 / 4))
			if m.Elem == vec.Float64 {
				top = m.Get(constant(math.MaxFloat64 / 4))
			}
			a := m.Min(top, m.Abs(x))
			return m.WithSign(m.Div(a, m.Add(a, constant(1))), x)
		}},
	} {
		u.emit(m)
	}
}

// integers emits the functions of one integer.
func integers(m machine) {
	for _, u := range []unary{
		{name: "neg", doc: "sets dst to -x.", f: func(m machine, x vector) vector { return m.Sub(m.Zero(), x) }},
		{name: "abs", doc: "sets dst to |x|; the least number stays.", f: func(m machine, x vector) vector { return m.Max(x, m.Sub(m.Zero(), x)) }},
		{name: "square", doc: "sets dst to x².", f: func(m machine, x vector) vector { return m.Mul(x, x) }},
		{name: "not", doc: "sets dst to ^x.", f: func(m machine, x vector) vector { return m.Xor(x, constant(-1)) }},
	} {
		u.emit(m)
	}
}

// flight is how many vectors long formulas have in flight.
const flight = 2

// functions emits the transcendental functions.
func functions(m machine) {
	all := []unary{
		{name: "exp", doc: "sets dst to e^x.", f: machine.Exp},
		{name: "exp2", doc: "sets dst to 2^x.", f: machine.Exp2},
		{name: "expm1", doc: "sets dst to e^x - 1.", f: machine.Expm1},
		{name: "log", doc: "sets dst to the natural logarithm of x.", f: machine.Log},
		{name: "log2", doc: "sets dst to the binary logarithm of x.", f: machine.Log2},
		{name: "log10", doc: "sets dst to the decimal logarithm of x.", f: machine.Log10},
		{name: "log1p", doc: "sets dst to log(1 + x).", f: machine.Log1p},
		{name: "tanh", doc: "sets dst to the hyperbolic tangent of x.", f: machine.Tanh},
		{name: "sigmoid", doc: "sets dst to 1 / (1 + e^-x).", f: machine.Sigmoid},
		{name: "logSigmoid", doc: "sets dst to -log(1 + e^-x).", f: machine.LogSigmoid},
		{name: "softplus", doc: "sets dst to log(1 + e^x).", f: machine.Softplus},
		{name: "silu", doc: "sets dst to x · sigmoid(x).", f: machine.Silu},
		{name: "mish", doc: "sets dst to x · tanh(log(1 + e^x)).", f: machine.Mish},
		{name: "selu", doc: "sets dst to the scaled exponential linear unit of x.", f: machine.Selu},
		{name: "geluTanh", doc: "sets dst to the approximation of GELU by tanh.", f: machine.GeluTanh},
	}
	if m.Elem == vec.Float32 {
		all = append(all,
			unary{name: "erf", doc: "sets dst to the error function of x.", f: machine.Erf},
			unary{name: "gelu", doc: "sets dst to x · Φ(x).", f: machine.Gelu},
		)
	}
	for _, u := range all {
		u.unroll, u.keep, u.together = flight, 12, true
		if u.name == "log1p" || u.name == "erf" {
			// They need more registers for themselves.
			u.keep = 4
			if !m.Wide {
				u.unroll = 1
			}
		}
		u.emit(m)
	}
	for _, u := range []unary{
		{name: "sin", doc: "sets dst to the sine of x, as far as x is in range, and returns how many elements it did.", f: machine.Sin},
		{name: "cos", doc: "sets dst to the cosine of x, as far as x is in range, and returns how many elements it did.", f: machine.Cos},
	} {
		m.Map(vec.Loop{Name: u.name, Doc: u.doc, Vectors: "x", Unroll: flight, Keep: 12, Together: true,
			Body: func(m machine, x []vector) vector { return u.f(m, x[0]) },
			Bad: func(m machine, x []vector) vec.Mask {
				return m.Cmp(vec.NotLessEqual, m.Abs(x[0]), m.TrigLimit())
			}})
	}
}
