package special

import "math"

// Asin returns the arcsine of x, computed as atan(x/√((1-x)(1+x))), which is accurate near ±1.
func Asin(x float64) float64 {
	if x == 0 {
		return x
	}
	return math.Atan(x / math.Sqrt((1-x)*(1+x)))
}

// Acos returns the arccosine of x, computed as 2·atan(√((1-x)/(1+x))), which is accurate near 1.
func Acos(x float64) float64 {
	return 2 * math.Atan(math.Sqrt((1-x)/(1+x)))
}
