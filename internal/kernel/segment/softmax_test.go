package segment

import (
	"math"
	"testing"

	"github.com/tenonml/tenon/dtype"
)

func TestSoftmax(t *testing.T) {
	defer func(large int) { largeOutput = large }(largeOutput)
	largeOutput = 1 << 10 // both ways of writing results occur
	t.Run("float32", testSoftmax[float32])
	t.Run("float64", testSoftmax[float64])
	t.Run("float16", testSoftmax[dtype.F16])
	t.Run("bfloat16", testSoftmax[dtype.BF16])
}

func softmaxReference(c []float64) (p []float64, lse float64) {
	m, sum := math.Inf(-1), 0.0
	for _, v := range c {
		m = max(m, v)
	}
	for _, v := range c {
		sum += math.Exp(v - m)
	}
	for _, v := range c {
		p = append(p, math.Exp(v-m)/sum)
	}
	if len(c) == 0 {
		return nil, math.Inf(-1)
	}
	return p, m + math.Log(sum)
}

func testSoftmax[T Float](t *testing.T) {
	eachCase(t, []int{1, 3}, func(t *testing.T, x []T, splits []int64, inner int) {
		rows := len(splits) - 1
		p, logp, lse := make([]T, len(x)), make([]T, len(x)), make([]T, rows*inner)
		inPlace := append([]T(nil), x...)
		Softmax(p, x, splits, inner)
		Softmax(inPlace, inPlace, splits, inner)
		LogSoftmax(logp, x, splits, inner)
		LogSumExp(lse, x, splits, inner)
		for r := range rows {
			for j := range inner {
				want, wantLSE := softmaxReference(columnOf(x, splits, r, j, inner))
				expect(t, "LogSumExp", r, lse[r*inner+j], wantLSE, 1)
				for k, w := range want {
					at := (int(splits[r])+k)*inner + j
					if !near(real64(p[at]), w, 1e-3, 2*tolerance[T]()) {
						t.Errorf("Softmax in row %d is %v, want %v", r, real64(p[at]), w)
					}
					if inPlace[at] != p[at] {
						t.Errorf("Softmax in place in row %d is %v, not %v", r, inPlace[at], p[at])
					}
					expect(t, "LogSoftmax", r, logp[at], math.Log(w), 40)
				}
			}
		}
	})
}

func TestSoftmaxSpecialValues(t *testing.T) {
	inf := float32(math.Inf(1))
	nan := float32(math.NaN())
	x := []float32{-inf, 0, 0, -inf, -inf, inf, 1, nan, 1, 200, -200, 1e30, -1e30, 0}
	splits := []int64{0, 3, 5, 7, 9, 11, 13, 13, 14}
	want := []float32{0, .5, .5, nan, nan, nan, 0, nan, nan, 1, 0, 1, 0, 1}
	lse := []float32{float32(math.Log(2)), -inf, inf, nan, 200, 1e30, -inf, 0}
	atEachLevel(t, func(t *testing.T) {
		p, l := make([]float32, len(x)), make([]float32, len(splits)-1)
		Softmax(p, x, splits, 1)
		for i, w := range want {
			if i != 6 && !near(float64(p[i]), float64(w), 0, 1e-6) {
				t.Errorf("Softmax(%v) at %d is %v, want %v", x[i], i, p[i], w)
			}
		}
		LogSumExp(l, x, splits, 1)
		for r, w := range lse {
			if !near(float64(l[r]), float64(w), 0, 1e-6) {
				t.Errorf("LogSumExp of row %d is %v, want %v", r, l[r], w)
			}
		}
		logp := make([]float32, len(x))
		LogSoftmax(logp, x, splits, 1)
		if logp[10] != -400 || logp[12] != -2e30 || logp[0] != -inf || logp[3] == logp[3] {
			t.Errorf("LogSoftmax = %v", logp)
		}
	})
}
