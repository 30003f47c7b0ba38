package elementwise

import (
	"math"
	"math/rand/v2"
	"testing"
)

// samples32 are special values, all exponents and signs with random fractions,
// and the numbers that models are made of.
func samples32() []float32 {
	x := []float32{0, float32(math.Copysign(0, -1)), float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)),
		math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32, math.MaxFloat32, -math.MaxFloat32,
		0x1p-126, -0x1p-126, 0x1p-127, 1, -1, 0.5, -0.5, 2, 3, 88.5, 88.72283, 88.73, 89, -87.4, -103.97, -104, 709, 1e10, -1e10,
		0.625, 0.9375, 0.75, 1.5, 1.4999999, 0.74999994, 65536, 65537, -65537, 3.1415927, 1.5707964, 4.712389, 6.2831855, 16777216, 8388608.5, 1e22}
	rng := rand.New(rand.NewPCG(1, 1))
	for exp := range uint32(256) {
		for range 40 {
			b := exp<<23 | rng.Uint32()&(1<<23-1) | rng.Uint32()&(1<<31)
			x = append(x, math.Float32frombits(b))
		}
	}
	for range 20000 {
		x = append(x, float32(rng.NormFloat64()*4), float32(rng.Float64()*200-100), 1+float32(rng.NormFloat64())*1e-3)
	}
	for k := 1; k < 3000; k++ { // close to multiples of π/2
		x = append(x, float32(float64(k)*math.Pi/2))
	}
	return x
}

func samples64() []float64 {
	var x []float64
	for _, v := range samples32() {
		x = append(x, float64(v), float64(v)*(1+1e-9))
	}
	rng := rand.New(rand.NewPCG(2, 1))
	for exp := range uint64(2048) {
		for range 5 {
			x = append(x, math.Float64frombits(exp<<52|rng.Uint64()&(1<<52-1)|rng.Uint64()&(1<<63)))
		}
	}
	return append(x, 709.78, 709.79, 710, -745, -745.2, -746, 5e-324, -5e-324, math.MaxFloat64, -math.MaxFloat64)
}

// ulps32 is how many representable numbers got is away from the exact result
// want, rounded: 0 for the same number or two NaNs, infinite for one NaN.
func ulps32(got float32, want float64) float64 {
	r := float32(want)
	if r != r || got != got {
		return onlyNaN(r != r, got != got)
	}
	return math.Abs(float64(order32(got) - order32(r)))
}

func ulps64(got, want float64) float64 {
	if want != want || got != got {
		return onlyNaN(want != want, got != got)
	}
	return math.Abs(float64(order64(got) - order64(want)))
}

func onlyNaN(a, b bool) float64 {
	if a && b {
		return 0
	}
	return math.Inf(1)
}

// order32 numbers floats in their order, both zeros being 0.
func order32(f float32) int64 {
	b := math.Float32bits(f)
	if b>>31 != 0 {
		return -int64(b &^ (1 << 31))
	}
	return int64(b)
}

func order64(f float64) int64 {
	b := math.Float64bits(f)
	if b>>63 != 0 {
		return -int64(b &^ (1 << 63))
	}
	return int64(b)
}

// bounds are the largest distances from the exact result, rounded: for float32
// from the float64 function, for float64 from package math, which is up to one
// unit off itself.
var bounds = map[Op][2]float64{
	Abs: {0, 0}, Neg: {0, 0}, Sign: {0, 0}, Reciprocal: {0, 0}, Square: {0, 0}, Sqrt: {0, 0}, Rsqrt: {1, 1},
	Exp: {1, 2}, Exp2: {1, 2}, Expm1: {2, 2}, Log: {1, 2}, Log2: {2, 2}, Log10: {2, 3}, Log1p: {1, 2},
	Sin: {1, 2}, Cos: {1, 2}, Tanh: {2, 3}, Sigmoid: {2, 3}, Erf: {1, 0},
	Floor: {0, 0}, Ceil: {0, 0}, Round: {0, 0}, Trunc: {0, 0},
	LogSigmoid: {2, 3}, Softplus: {2, 3}, Softsign: {1, 1}, Relu: {0, 0}, Relu6: {0, 0}, Selu: {3, 4}, Silu: {3, 4}, Mish: {4, 5},
	HardSigmoid: {1, 1}, HardSilu: {2, 2},
	Tan: {0, 0}, Asin: {0, 0}, Acos: {0, 0}, Atan: {0, 0}, Sinh: {0, 0}, Cosh: {0, 0}, Asinh: {0, 0}, Acosh: {0, 0}, Atanh: {0, 0},
	Cbrt: {0, 0}, Erfc: {0, 0}, Erfinv: {0, 0}, Ndtri: {0, 0}, Lgamma: {0, 0}, Digamma: {0, 0},
}

// direct are the functions that have no float64 twin among the scalar functions.
var direct = map[Op]func(float64) float64{
	Abs: math.Abs, Neg: func(x float64) float64 { return -x }, Square: func(x float64) float64 { return x * x }, Sqrt: math.Sqrt,
	Sign: func(x float64) float64 {
		if x == 0 || x != x {
			return x
		}
		return math.Copysign(1, x)
	},
	Reciprocal:  func(x float64) float64 { return 1 / x },
	Rsqrt:       func(x float64) float64 { return 1 / math.Sqrt(x) },
	Relu:        func(x float64) float64 { return max(x, 0) },
	Relu6:       func(x float64) float64 { return min(max(x, 0), 6) },
	HardSigmoid: func(x float64) float64 { return min(max(x+3, 0), 6) / 6 },
	HardSilu: func(x float64) float64 {
		if x <= -3 {
			return math.Copysign(0, -1)
		}
		return x * (min(max(x+3, 0), 6) / 6)
	},
	Softsign: func(x float64) float64 {
		if math.IsInf(x, 0) {
			return math.Copysign(1, x)
		}
		return x / (1 + math.Abs(x))
	},
}

func scalar64(op Op) func(float64) float64 {
	if f := direct[op]; f != nil {
		return f
	}
	return scalarFunc(op)
}

func TestUnaryAccuracy(t *testing.T) {
	x32, x64 := samples32(), samples64()
	eachFamily(t, func(t *testing.T) {
		for op := Abs; op < Conj; op++ {
			bound, ok := bounds[op]
			if !ok {
				if op != Gelu && op != GeluTanh { // see TestGelu
					t.Errorf("%v: no bound", op)
				}
				continue
			}
			f := scalar64(op)
			y := make([]float32, len(x32))
			Unary[float32](op)(y, x32)
			worst, at := 0.0, float32(0)
			for i, v := range x32 {
				want := f(float64(v))
				d := ulps32(y[i], want)
				if (op == Silu || op == Mish) && math.Abs(float64(y[i])-want) < 0x1p-140 {
					d = 0 // a product of a subnormal factor
				}
				if want == 0 && y[i] == 0 && math.Signbit(want) != math.Signbit(float64(y[i])) && op != Erfinv {
					t.Errorf("float32 %v(%v) = %v, want %v", op, v, y[i], want)
				}
				if d > worst {
					worst, at = d, v
				}
			}
			if worst > bound[0] {
				y1 := []float32{at}
				Unary[float32](op)(y1, y1)
				t.Errorf("float32 %v(%v) = %v, want %v: %v ulp, bound %v", op, at, y1[0], f(float64(at)), worst, bound[0])
			}
			z := make([]float64, len(x64))
			Unary[float64](op)(z, x64)
			worst64, at64 := 0.0, 0.0
			for i, v := range x64 {
				want := f(v)
				d := ulps64(z[i], want)
				if want == 0 && z[i] == 0 && math.Signbit(want) != math.Signbit(z[i]) && op != Erfinv {
					t.Errorf("float64 %v(%v) = %v, want %v", op, v, z[i], want)
				}
				if d > worst64 {
					worst64, at64 = d, v
				}
			}
			if worst64 > bound[1] {
				z1 := []float64{at64}
				Unary[float64](op)(z1, z1)
				t.Errorf("float64 %v(%v) = %v, want %v: %v ulp, bound %v", op, at64, z1[0], f(at64), worst64, bound[1])
			}
			t.Logf("%v: float32 %v ulp at %v, float64 %v at %v", op, worst, at, worst64, at64)
		}
	})
}

// The error of the float32 forms of GELU is relative to x, not to the result,
// which vanishes on the left.
func TestGelu(t *testing.T) {
	x32, x64 := samples32(), samples64()
	eachFamily(t, func(t *testing.T) {
		for _, op := range []Op{Gelu, GeluTanh} {
			f := scalarFunc(op)
			y := make([]float32, len(x32))
			Unary[float32](op)(y, x32)
			worst := 0.0
			for i, v := range x32 {
				want := f(float64(v))
				d := ulps32(y[i], want)
				if d > 3 && !(math.Abs(float64(y[i])-want) <= 1e-7*math.Min(6, math.Abs(float64(v)))) {
					t.Errorf("float32 %v(%v) = %v, want %v", op, v, y[i], want)
				} else if v > 0 {
					worst = math.Max(worst, d)
				}
			}
			z := make([]float64, len(x64))
			Unary[float64](op)(z, x64)
			worst64 := 0.0
			for i, v := range x64 {
				want := f(v)
				if d := ulps64(z[i], want); d > 4 && !(math.Abs(z[i]-want) <= 1e-16*math.Min(10, math.Abs(v))) {
					t.Errorf("float64 %v(%v) = %v, want %v", op, v, z[i], want)
				} else if v > 0 {
					worst64 = math.Max(worst64, d)
				}
			}
			t.Logf("%v of positive numbers: %v ulp, %v ulp", op, worst, worst64)
		}
	})
}
