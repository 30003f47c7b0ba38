package special

import (
	"math"
	"testing"
)

type reference struct{ x, want float64 }

// ulps is the distance in units in the last place of want.
func ulps(got, want float64) float64 {
	if got == want {
		return 0
	}
	_, e := math.Frexp(want)
	return math.Abs(got-want) / math.Ldexp(1, max(e-53, -1074))
}

func TestAgainstReferences(t *testing.T) {
	for _, c := range []struct {
		name   string
		f      func(float64) float64
		values []reference
		bound  float64
	}{
		{"Ndtri", Ndtri, ndtriValues, 4},
		{"Sigmoid", Sigmoid, sigmoidValues, 2},
		{"Softplus", Softplus, softplusValues, 2},
		{"Silu", Silu, siluValues, 3},
		{"Mish", Mish, mishValues, 4},
		{"Gelu", Gelu, geluValues, 6},
		{"GeluTanh", GeluTanh, geluTanhValues, 40},
		{"Log2", Log2, log2Values, 2},
		{"Log10", Log10, log10Values, 2},
		{"LogGamma", LogGamma, lgammaValues, 12},
		{"Sin", Sin, sinValues, 1},
		{"Cos", Cos, cosValues, 1},
		{"Tan", Tan, tanValues, 2},
		{"Sinh", Sinh, sinhValues, 4},
		{"Cosh", Cosh, coshValues, 4},
		{"Asin", Asin, asinValues, 3},
		{"Acos", Acos, acosValues, 3},
		{"Exp", Exp, expValues, 3},
	} {
		worst := 0.0
		for _, v := range c.values {
			d := ulps(c.f(v.x), v.want)
			worst = math.Max(worst, d)
			if d > c.bound || d != d {
				t.Errorf("%s(%v) = %v, want %v (%.3g ulp)", c.name, v.x, c.f(v.x), v.want, d)
			}
		}
		t.Logf("%s: at most %.2f ulp", c.name, worst)
	}
}

func TestDigamma(t *testing.T) {
	for _, v := range digammaValues {
		got, bound := Digamma(v.x), 4.0
		if v.x < 0 {
			// Two terms cancel near the zeros; the error is relative to them.
			scale := math.Max(1, math.Abs(v.want))
			if math.Abs(got-v.want) > 2e-15*scale {
				t.Errorf("Digamma(%v) = %v, want %v", v.x, got, v.want)
			}
			continue
		}
		if d := ulps(got, v.want); d > bound || d != d {
			t.Errorf("Digamma(%v) = %v, want %v (%.3g ulp)", v.x, got, v.want, d)
		}
	}
}

func TestPow(t *testing.T) {
	for _, c := range powValues {
		if d := ulps(Pow(c.x, c.y), c.want); d > 4 || d != d {
			t.Errorf("Pow(%v, %v) = %v, want %v (%.3g ulp)", c.x, c.y, Pow(c.x, c.y), c.want, d)
		}
		if got, want := Pow(-c.x, math.Trunc(c.y)), Pow(c.x, math.Trunc(c.y)); math.Abs(got) != want || math.Signbit(got) != (math.Mod(math.Trunc(c.y), 2) != 0) {
			t.Errorf("Pow(%v, %v) = %v", -c.x, math.Trunc(c.y), got)
		}
	}
	// Everything that is not a power of a positive finite number is math.Pow's.
	for _, x := range []float64{0, math.Copysign(0, -1), 1, -1, 2, -2, 0.5, -0.5, math.Inf(1), math.Inf(-1), math.NaN()} {
		for _, y := range []float64{0, 1, -1, 2, 3, -3, 0.5, -0.5, 1e300, -1e300, math.Inf(1), math.Inf(-1), math.NaN()} {
			if got, want := Pow(x, y), math.Pow(x, y); ulps(got, want) > 2 || (got != got) != (want != want) || math.Signbit(got) != math.Signbit(want) && want == want {
				t.Errorf("Pow(%v, %v) = %v, want %v", x, y, got, want)
			}
		}
	}
}

func TestSpecials(t *testing.T) {
	inf, nan, zero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	for _, c := range []struct {
		name    string
		f       func(float64) float64
		x, want float64
	}{
		{"Digamma", Digamma, 0, -inf}, {"Digamma", Digamma, zero, inf}, {"Digamma", Digamma, -3, nan},
		{"Digamma", Digamma, inf, inf}, {"Digamma", Digamma, -inf, nan}, {"Digamma", Digamma, nan, nan},
		{"Ndtri", Ndtri, 0, -inf}, {"Ndtri", Ndtri, 1, inf}, {"Ndtri", Ndtri, -0.1, nan}, {"Ndtri", Ndtri, 1.1, nan}, {"Ndtri", Ndtri, nan, nan},
		{"Sin", Sin, zero, zero}, {"Sin", Sin, inf, nan}, {"Sin", Sin, nan, nan}, {"Cos", Cos, 0, 1}, {"Cos", Cos, -inf, nan}, {"Tan", Tan, zero, zero}, {"Tan", Tan, inf, nan},
		{"Sinh", Sinh, 711, inf}, {"Sinh", Sinh, -inf, -inf}, {"Sinh", Sinh, zero, zero}, {"Cosh", Cosh, -711, inf}, {"Cosh", Cosh, nan, nan},
		{"Exp", Exp, 710, inf}, {"Expm1", Expm1, 710, inf}, {"Expm1", Expm1, zero, zero}, {"Asin", Asin, 1, math.Pi / 2}, {"Asin", Asin, 1.1, nan}, {"Asin", Asin, zero, zero},
		{"Acos", Acos, -1, math.Pi}, {"Acos", Acos, 1, 0}, {"Acos", Acos, -1.1, nan},
		{"Sigmoid", Sigmoid, inf, 1}, {"Sigmoid", Sigmoid, -inf, 0}, {"Sigmoid", Sigmoid, nan, nan},
		{"Softplus", Softplus, inf, inf}, {"Softplus", Softplus, -inf, 0}, {"Softplus", Softplus, nan, nan},
		{"LogSigmoid", LogSigmoid, inf, zero}, {"LogSigmoid", LogSigmoid, -inf, -inf},
		{"Silu", Silu, inf, inf}, {"Silu", Silu, -inf, zero}, {"Silu", Silu, nan, nan},
		{"Mish", Mish, inf, inf}, {"Mish", Mish, -inf, zero}, {"Mish", Mish, nan, nan},
		{"Gelu", Gelu, inf, inf}, {"Gelu", Gelu, -inf, zero}, {"Gelu", Gelu, nan, nan},
		{"GeluTanh", GeluTanh, inf, inf}, {"GeluTanh", GeluTanh, -inf, zero}, {"GeluTanh", GeluTanh, nan, nan},
		{"Selu", Selu, inf, inf}, {"Selu", Selu, -inf, -1.7580993408473766}, {"Selu", Selu, nan, nan},
		{"Log2", Log2, 0, -inf}, {"Log2", Log2, -1, nan}, {"Log2", Log2, inf, inf}, {"Log2", Log2, 1024, 10},
		{"Log10", Log10, 0, -inf}, {"Log10", Log10, -1, nan}, {"Log10", Log10, inf, inf}, {"Log10", Log10, 1e15, 15},
		{"LogGamma", LogGamma, 0, inf}, {"LogGamma", LogGamma, -2, inf}, {"LogGamma", LogGamma, -inf, inf},
	} {
		got := c.f(c.x)
		if got != c.want && !(got != got && c.want != c.want) || got == 0 && math.Signbit(got) != math.Signbit(c.want) {
			t.Errorf("%s(%v) = %v, want %v", c.name, c.x, got, c.want)
		}
	}
	if got := Xlogy(0, 0); got != 0 {
		t.Errorf("Xlogy(0, 0) = %v", got)
	}
	if got := Xlogy(0, nan); got == got {
		t.Errorf("Xlogy(0, NaN) = %v", got)
	}
	if got := Xlog1py(2, -1); got != -inf {
		t.Errorf("Xlog1py(2, -1) = %v", got)
	}
	if got := Elu(-1, 2); got != 2*math.Expm1(-1) {
		t.Errorf("Elu(-1, 2) = %v", got)
	}
}
