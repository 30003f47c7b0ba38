//go:build amd64 && !purego

package attention

import "github.com/tenonml/tenon/internal/cpu"

func init() {
	table.Add(cpu.AVX512, around(maximumF32AVX512, exponentialsF32AVX512, scoreGradF32AVX512, exponentialRowsF32AVX512, divideRowsF32AVX512, scoreGradRowsF32AVX512, longestRowF32AVX512, scaledRowsF32AVX512, addLanesF32AVX512))
	table.Add(cpu.AVX2, around(maximumF32AVX2, exponentialsF32AVX2, scoreGradF32AVX2, exponentialRowsF32AVX2, divideRowsF32AVX2, scoreGradRowsF32AVX2, longestRowF32AVX2, scaledRowsF32AVX2, addLanesF32AVX2))
}

// around wraps assembly row kernels in ordinary Go functions, in which the goroutine can be
// preempted.
func around(
	maximum func(x *float32, n int, out *float32),
	exponentials func(x *float32, n int, shift float32, out *float32),
	scoreGrad func(dst, p, dp *float32, n int, mean, scale float32),
	exponentialRows func(x *float32, rows, n, stride int, unit float32, stats *float32),
	divideRows func(x *float32, rows, n, stride int, stats *float32),
	scoreGradRows func(dp, p *float32, rows, n, stride int, scale float32),
	longestRow func(x *float32, rows, n, stride int, out *float32),
	scaledRows func(dst, x *float32, rows, n, dstStride, stride int, by float32, out *float32),
	addLanes func(sums *float32, rows int, first float32, stats *float32),
) rowKernels {
	return rowKernels{
		maximum: func(x []float32) (most float32) {
			maximum(&x[0], len(x), &most)
			return most
		},
		exponentials: func(x []float32, shift float32) (sum float32) {
			exponentials(&x[0], len(x), shift, &sum)
			return sum
		},
		scoreGrad: func(p, dp []float32, mean, scale float32) {
			scoreGrad(&dp[0], &p[0], &dp[0], len(p), mean, scale)
		},
		exponentialRows: func(x []float32, rows, n, stride int, unit float32, stats []float32) {
			_, _ = x[(rows-1)*stride+n-1], stats[2*rows-1]
			exponentialRows(&x[0], rows, n, 4*stride, unit, &stats[0])
		},
		divideRows: func(x []float32, rows, n, stride int, stats []float32) {
			_, _ = x[(rows-1)*stride+n-1], stats[2*rows-1]
			divideRows(&x[0], rows, n, 4*stride, &stats[0])
		},
		scoreGradRows: func(dp, p []float32, rows, n, stride int, scale float32) {
			_, _ = dp[(rows-1)*stride+n-1], p[(rows-1)*stride+n-1]
			scoreGradRows(&dp[0], &p[0], rows, n, 4*stride, scale)
		},
		longestRow: func(x []float32, rows, n, stride int) (most float32) {
			_ = x[(rows-1)*stride+n-1]
			longestRow(&x[0], rows, n, 4*stride, &most)
			return most
		},
		scaledRows: func(dst, x []float32, rows, n, dstStride, stride int, by float32) (most float32) {
			_, _ = x[(rows-1)*stride+n-1], dst[(rows-1)*dstStride+n-1]
			scaledRows(&dst[0], &x[0], rows, n, 4*dstStride, 4*stride, by, &most)
			return most
		},
		addLanes: func(sums []float32, rows int, first float32, stats []float32) {
			_, _ = sums[16*rows-1], stats[2*rows-1]
			addLanes(&sums[0], rows, first, &stats[0])
		},
	}
}
