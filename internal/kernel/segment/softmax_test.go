package segment

import (
	"math"
	"math/rand/v2"
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
	atEachFamily(t, func(t *testing.T) {
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

// Pieces of rows of which some hold elements that are far from 0, and rows that are longer
// than a piece, between others: what is computed ahead is used where it is right.
func TestSoftmaxInPieces(t *testing.T) {
	defer func(large int) { largeOutput = large }(largeOutput)
	for _, large := range []int{1, 1 << 30} {
		largeOutput = large
		atEachFamily(t, func(t *testing.T) {
			testSoftmaxInPieces[float32](t)
			testSoftmaxInPieces[float64](t)
		})
	}
}

func testSoftmaxInPieces[T float32 | float64](t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	splits := []int64{5}
	for r := range 9000 {
		n := rng.IntN(28)
		switch {
		case r/700%5 == 4:
			n = rng.IntN(2)
		case r%1117 == 1116:
			n = 1500 + rng.IntN(4000)
		case r%331 == 330:
			n = 33 + rng.IntN(200)
		}
		splits = append(splits, splits[r]+int64(n))
	}
	x := make([]T, splits[len(splits)-1])
	for i := range x {
		x[i] = T(rng.NormFloat64() * 9)
	}
	for _, v := range []float64{1e30, -1e30, 700, -43.5, 43.5, 44.5, -44.5, 1e-40, -5e-324, math.NaN(), math.Inf(1), math.Inf(-1), 100, -200} {
		for range 2 {
			x[rng.IntN(len(x))] = T(v)
		}
	}
	p, inPlace := make([]T, len(x)), append([]T(nil), x...)
	Softmax(p, x, splits, 1)
	Softmax(inPlace, inPlace, splits, 1)
	for i := range splits[0] {
		if p[i] != 0 || inPlace[i] != x[i] {
			t.Fatalf("element %d before the first row was written: %v", i, p[i])
		}
	}
	for r := range len(splits) - 1 {
		row := make([]float64, 0, 32)
		for _, v := range x[splits[r]:splits[r+1]] {
			row = append(row, float64(v))
		}
		want, _ := softmaxReference(row)
		for k, w := range want {
			at := int(splits[r]) + k
			if !near(float64(p[at]), w, 1e-35, 4*tolerance[T]()) {
				t.Fatalf("%T: Softmax in row %d of %d elements is %v at %d, want %v", p[at], r, len(row), p[at], k, w)
			}
			if inPlace[at] != p[at] && p[at] == p[at] {
				t.Fatalf("%T: Softmax in place in row %d is %v, not %v", p[at], r, inPlace[at], p[at])
			}
		}
	}
}
