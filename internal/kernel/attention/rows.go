package attention

import "math"

// rowKernels are the loops over rows of scores, in one implementation. Rows are not
// empty and have at most keyBlock elements.
type rowKernels struct {
	maximum      func(x []float32) float32                      // the greatest element; NaN may be passed over
	exponentials func(x []float32, shift float32) (sum float32) // x[i] = exp(x[i] - shift)
	scoreGrad    func(p, dp []float32, mean, scale float32)     // dp[i] = p[i] (dp[i] - mean) scale
}

var plainKernels = rowKernels{
	maximum: func(x []float32) float32 {
		most := x[0]
		for _, v := range x {
			if v > most || most != most {
				most = v
			}
		}
		return most
	},
	exponentials: func(x []float32, shift float32) (sum float32) {
		for i, v := range x {
			x[i] = exp(v - shift)
			sum += x[i]
		}
		return sum
	},
	scoreGrad: func(p, dp []float32, mean, scale float32) {
		for i, v := range p {
			dp[i] = (dp[i] - mean) * v * scale
		}
	},
}

func exp(x float32) float32 { return float32(math.Exp(float64(x))) }
