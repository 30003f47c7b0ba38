package attention

import (
	"math"

	"github.com/tenonml/tenon/internal/cpu"
	"github.com/tenonml/tenon/internal/kernel/gemm"
)

// rowKernels are the loops over rows of scores, for one instruction set. Rows are not empty and
// have at most keyBlock elements.
type rowKernels struct {
	maximum      func(x []float32) float32                      // the greatest element; may ignore NaN
	exponentials func(x []float32, shift float32) (sum float32) // x[i] = exp(x[i] - shift)
	scoreGrad    func(p, dp []float32, mean, scale float32)     // dp[i] = p[i] (dp[i] - mean) scale

	// exponentialRows replaces rows of n scores, stride apart, by unit·exp(x - max), where unit
	// is a power of two, and stores the greatest score and the new sum of each row in stats.
	exponentialRows func(x []float32, rows, n, stride int, unit float32, stats []float32)
	// divideRows divides rows of n elements by their sums in stats.
	divideRows func(x []float32, rows, n, stride int, stats []float32)
	// scoreGradRows sets dp = p (dp - sum(p dp)) scale for rows of n elements.
	scoreGradRows func(dp, p []float32, rows, n, stride int, scale float32)

	// longestRow returns the greatest sum of squares of a row, or NaN if one of them is NaN.
	longestRow func(x []float32, rows, n, stride int) float32
	// scaledRows sets the rows of dst to those of x multiplied by by, and returns longestRow of the
	// result.
	scaledRows func(dst, x []float32, rows, n, dstStride, stride int, by float32) float32
	// addLanes sets the stats of each row to first and to the total of its 16 partial sums.
	addLanes func(sums []float32, rows int, first float32, stats []float32)
}

var table = cpu.NewTable(rowKernels{
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
	exponentialRows: func(x []float32, rows, n, stride int, unit float32, stats []float32) {
		for i := range rows {
			row := x[i*stride:][:n]
			most := row[0]
			for _, v := range row {
				if v > most || most != most {
					most = v
				}
			}
			var sum float32
			for j, v := range row {
				row[j] = exp(v-most) * unit
				sum += row[j]
			}
			stats[2*i], stats[2*i+1] = most, sum
		}
	},
	divideRows: func(x []float32, rows, n, stride int, stats []float32) {
		for i := range rows {
			by := 1 / stats[2*i+1]
			row := x[i*stride:][:n]
			for j := range row {
				row[j] *= by
			}
		}
	},
	scoreGradRows: func(dp, p []float32, rows, n, stride int, scale float32) {
		for i := range rows {
			grad, prob := dp[i*stride:][:n], p[i*stride:][:n]
			var mean float32
			for j, v := range prob {
				mean += v * grad[j]
			}
			for j, v := range prob {
				grad[j] = (grad[j] - mean) * v * scale
			}
		}
	},
	longestRow: func(x []float32, rows, n, stride int) (most float32) {
		for i := range rows {
			var sum float32
			for _, v := range x[i*stride:][:n] {
				sum += v * v
			}
			if sum > most || sum != sum {
				most = sum
			}
		}
		return most
	},
	scaledRows: func(dst, x []float32, rows, n, dstStride, stride int, by float32) (most float32) {
		for i := range rows {
			var sum float32
			row := dst[i*dstStride:][:n]
			for j, v := range x[i*stride:][:n] {
				row[j] = v * by
				sum += row[j] * row[j]
			}
			if sum > most || sum != sum {
				most = sum
			}
		}
		return most
	},
	addLanes: func(sums []float32, rows int, first float32, stats []float32) {
		for i := range rows {
			var sum float32
			for _, v := range sums[gemm.PowerLanes*i:][:gemm.PowerLanes] {
				sum += v
			}
			stats[2*i], stats[2*i+1] = first, sum
		}
	},
})

func exp(x float32) float32 { return float32(math.Exp(float64(x))) }
