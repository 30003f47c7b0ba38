package special

import "math"

// Log returns the natural logarithm of x. Unlike math.Log on some machines, it is correct for
// subnormal numbers.
func Log(x float64) float64 {
	if x < 0x1p-1022 && x > 0 {
		return math.Log(x*0x1p54) - 54*math.Ln2
	}
	return math.Log(x)
}

// Log2 returns the binary logarithm of x. It is exact for powers of two, and accurate just above 1,
// where math.Log2 suffers from cancellation.
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

// Log10 returns the decimal logarithm of x. It is exact for the powers of ten that float64 can
// represent.
func Log10(x float64) float64 {
	if x >= 1 && x <= 1e22 {
		if r := math.RoundToEven(math.Log(x) * (1 / math.Ln10)); math.Pow10(int(r)) == x {
			return r
		}
	}
	return Log(x) * (1 / math.Ln10)
}

// LogGamma returns log|Γ(x)|: +Inf at zero, at the negative integers and at
// both infinities.
func LogGamma(x float64) float64 {
	if math.IsInf(x, -1) {
		return math.Inf(1)
	}
	if a := math.Abs(x); a < 0x1p-60 {
		return -Log(a) // Γ(x) ≈ 1/x
	}
	// math.Lgamma's approximation is off by hundreds of ulps at the end of one of its intervals;
	// x·Γ(x) = Γ(x+1) avoids that point.
	switch {
	case x > 1.19 && x < 1.24:
		return LogGamma(x+1) - math.Log(x)
	case x > 0.19 && x < 0.24:
		return LogGamma(x+2) - math.Log(x*(x+1))
	}
	l, _ := math.Lgamma(x)
	return l
}

// Xlogy returns x·log y, or 0 if x is 0 and y is not NaN.
func Xlogy(x, y float64) float64 {
	if x == 0 && y == y {
		return 0
	}
	return x * Log(y)
}

// Xlog1py returns x·log(1+y), or 0 if x is 0 and y is not NaN.
func Xlog1py(x, y float64) float64 {
	if x == 0 && y == y {
		return 0
	}
	return x * math.Log1p(y)
}

// LogAddExp returns log(eˣ + eʸ).
func LogAddExp(x, y float64) float64 {
	if x == y { // the difference of equal infinities is NaN
		return x + math.Ln2
	}
	return max(x, y) + math.Log1p(Exp(-math.Abs(x-y)))
}
