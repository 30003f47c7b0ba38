package special

import "math"

// Log2 returns the binary logarithm of x: exact for powers of two, and without
// cancellation just above 1, where math.Log2 loses digits.
func Log2(x float64) float64 {
	frac, exp := math.Frexp(x)
	if frac == 0.5 {
		return float64(exp - 1)
	}
	if frac < math.Sqrt2/2 {
		frac *= 2
		exp--
	}
	return math.Log(frac)*(1/math.Ln2) + float64(exp)
}

// Log10 returns the decimal logarithm of x; it is exact for the powers of ten
// that float64 holds.
func Log10(x float64) float64 {
	if x > 0.5 && x < 2 {
		return math.Log(x) * (1 / math.Ln10)
	}
	l := math.Log10(x)
	if r := math.RoundToEven(l); math.Abs(l-r) < 1e-13 && r >= 0 && r <= 22 && math.Pow10(int(r)) == x {
		return r
	}
	return l
}

// LogGamma returns log|Γ(x)|: +Inf at zero, at the negative integers and at
// both infinities.
func LogGamma(x float64) float64 {
	if math.IsInf(x, -1) {
		return math.Inf(1)
	}
	l, _ := math.Lgamma(x)
	return l
}

// Xlogy returns x·log y, and 0 where x is 0 and y is no NaN.
func Xlogy(x, y float64) float64 {
	if x == 0 && y == y {
		return 0
	}
	return x * math.Log(y)
}

// Xlog1py returns x·log(1+y), and 0 where x is 0 and y is no NaN.
func Xlog1py(x, y float64) float64 {
	if x == 0 && y == y {
		return 0
	}
	return x * math.Log1p(y)
}
