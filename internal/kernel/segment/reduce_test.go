package segment

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tenonml/tenon/dtype"
)

var inners = []int{1, 3}

func TestReductions(t *testing.T) {
	t.Run("float32", testReductions[float32])
	t.Run("float64", testReductions[float64])
	t.Run("float16", testReductions[dtype.F16])
	t.Run("bfloat16", testReductions[dtype.BF16])
	t.Run("int8", testReductions[int8])
	t.Run("int16", testReductions[int16])
	t.Run("int32", testReductions[int32])
	t.Run("int64", testReductions[int64])
	t.Run("uint8", testReductions[uint8])
	t.Run("uint16", testReductions[uint16])
	t.Run("uint32", testReductions[uint32])
	t.Run("uint64", testReductions[uint64])
}

func testReductions[T dtype.Real](t *testing.T) {
	eachCase(t, inners, func(t *testing.T, x []T, splits []int64, inner int) {
		rows := len(splits) - 1
		sum, high, low := make([]T, rows*inner), make([]T, rows*inner), make([]T, rows*inner)
		argHigh, argLow, nonzero := make([]int64, rows*inner), make([]int64, rows*inner), make([]int64, rows*inner)
		Sum(sum, x, splits, inner)
		Max(high, x, splits, inner)
		Min(low, x, splits, inner)
		ArgMax(argHigh, x, splits, inner)
		ArgMin(argLow, x, splits, inner)
		CountNonzero(nonzero, x, splits, inner)
		for i := range sum {
			r, j := i/inner, i%inner
			c := columnOf(x, splits, r, j, inner)
			want := sumOf(c)
			if !dtype.Of[T]().IsFloat() {
				want = real64(number[T](want)) // wraps
			}
			expect(t, "Sum", r, sum[i], want, magnitude(c))
			wantHigh, wantLow := real64(lowest[T]()), real64(highest[T]())
			wantArgHigh, wantArgLow, count := -1, -1, 0
			for k, v := range c {
				if wantArgHigh < 0 || v > wantHigh {
					wantHigh, wantArgHigh = v, k
				}
				if wantArgLow < 0 || v < wantLow {
					wantLow, wantArgLow = v, k
				}
				if v != 0 {
					count++
				}
			}
			if real64(high[i]) != wantHigh || real64(low[i]) != wantLow {
				t.Errorf("Max, Min of row %d are %v, %v, want %v, %v", r, high[i], low[i], wantHigh, wantLow)
			}
			if argHigh[i] != int64(wantArgHigh) || argLow[i] != int64(wantArgLow) {
				t.Errorf("ArgMax, ArgMin of row %d are %d, %d, want %d, %d", r, argHigh[i], argLow[i], wantArgHigh, wantArgLow)
			}
			if nonzero[i] != int64(count) {
				t.Errorf("CountNonzero of row %d is %d, want %d", r, nonzero[i], count)
			}
		}
	})
}

func TestMeanAndVariance(t *testing.T) {
	t.Run("float32", testMoments[float32])
	t.Run("float64", testMoments[float64])
	t.Run("float16", testMoments[dtype.F16])
	t.Run("bfloat16", testMoments[dtype.BF16])
}

func moments(c []float64, ddof int) (mean, variance float64) {
	n := float64(len(c))
	mean = sumOf(c) / n
	for _, v := range c {
		variance += (v - mean) * (v - mean)
	}
	return mean, variance / max(n-float64(ddof), 0)
}

func testMoments[T Float](t *testing.T) { testMomentsBy(t, Mean[T], Var[T]) }

func testIntegerMoments[T dtype.Integer](t *testing.T) { testMomentsBy(t, MeanInt[T], VarInt[T]) }

func testMomentsBy[O Float, T dtype.Real](t *testing.T, meanOf func(out []O, x []T, splits []int64, inner int), varOf func(out []O, x []T, splits []int64, inner, ddof int)) {
	eachCase(t, inners, func(t *testing.T, x []T, splits []int64, inner int) {
		rows := len(splits) - 1
		mean, variance, corrected := make([]O, rows*inner), make([]O, rows*inner), make([]O, rows*inner)
		meanOf(mean, x, splits, inner)
		varOf(variance, x, splits, inner, 0)
		varOf(corrected, x, splits, inner, 1)
		for i := range mean {
			r := i / inner
			c := columnOf(x, splits, r, i%inner, inner)
			wantMean, wantVar := moments(c, 0)
			expect(t, "Mean", r, mean[i], wantMean, magnitude(c)/float64(max(len(c), 1)))
			expect(t, "Var", r, variance[i], wantVar, 1)
			if _, wantVar = moments(c, 1); len(c) > 1 {
				expect(t, "Var with ddof 1", r, corrected[i], wantVar, 1)
			} else if v := real64(corrected[i]); v == v {
				t.Errorf("Var with ddof 1 of row %d of %d is %v", r, len(c), v)
			}
		}
	})
}

func TestIntegerMoments(t *testing.T) {
	t.Run("int8", testIntegerMoments[int8])
	t.Run("int32", testIntegerMoments[int32])
	t.Run("int64", testIntegerMoments[int64])
	t.Run("uint32", testIntegerMoments[uint32])
}

// A variance as the difference of two large numbers would be 0 or negative here, and equal
// numbers have none, whatever the rounding error of their mean.
func TestVarianceFarFromZero(t *testing.T) {
	x := []float32{10000, 10001, 10002, 4096.5, 4097.5}
	got := make([]float32, 2)
	Var(got, x, []int64{0, 3, 5}, 1, 0)
	if got[0] != float32(2./3) || got[1] != .25 {
		t.Errorf("Var = %v", got)
	}
	same, splits := make([]float64, 0, 3000), []int64{0}
	for n := range int64(70) {
		for range n {
			same = append(same, 1e8/3)
		}
		splits = append(splits, int64(len(same)))
	}
	atEachFamily(t, func(t *testing.T) {
		out := make([]float64, 70)
		Var(out, same, splits, 1, 0)
		for n, v := range out[1:] {
			if v < 0 || v > 1e-16 {
				t.Errorf("Var of %d equal numbers is %v", n+1, v)
			}
		}
	})
}

func TestComplexReductions(t *testing.T) {
	x := []complex64{1 + 2i, 3i, 2, 5 - 1i}
	splits := []int64{0, 3, 3, 4}
	got := make([]complex64, 3)
	if Sum(got, x, splits, 1); !slices.Equal(got, []complex64{3 + 5i, 0, 5 - 1i}) {
		t.Errorf("Sum = %v", got)
	}
	if Prod(got, x, splits, 1); !slices.Equal(got, []complex64{(1 + 2i) * 3i * 2, 1, 5 - 1i}) {
		t.Errorf("Prod = %v", got)
	}
	if Mean(got, x, splits, 1); got[0] != (3+5i)/3 || real(got[1]) == real(got[1]) {
		t.Errorf("Mean = %v", got)
	}
	count := make([]int64, 3)
	if CountNonzero(count, x, splits, 1); !slices.Equal(count, []int64{3, 0, 1}) {
		t.Errorf("CountNonzero = %v", count)
	}
}

func TestProd(t *testing.T) {
	x := []int32{2, 3, -4, 5, 7, 1 << 20, 1 << 20}
	splits := []int64{0, 3, 3, 5, 7}
	got := make([]int32, 4)
	if Prod(got, x, splits, 1); !slices.Equal(got, []int32{-24, 1, 35, 0}) {
		t.Errorf("Prod = %v", got)
	}
	h := []dtype.F16{dtype.F16From(1.5), dtype.F16From(2), dtype.F16From(-3)}
	half := make([]dtype.F16, 2)
	if Prod(half, h, []int64{0, 2, 3}, 1); half[0].Float32() != 3 || half[1].Float32() != -3 {
		t.Errorf("Prod = %v", half)
	}
	items := make([]float64, 4)
	if Prod(items, []float64{1, 2, 3, 4, 5, 6}, []int64{0, 2, 3}, 2); !slices.Equal(items, []float64{3, 8, 5, 6}) {
		t.Errorf("Prod of items = %v", items)
	}
}

// Products and sums of integers wrap; products of floats are as near as their order allows.
func TestProdOfRows(t *testing.T) {
	t.Run("float32", testProd[float32])
	t.Run("float64", testProd[float64])
	t.Run("int32", testProd[int32])
	t.Run("int64", testProd[int64])
	t.Run("uint16", testProd[uint16])
}

func testProd[T dtype.Real](t *testing.T) {
	eachCase(t, inners, func(t *testing.T, x []T, splits []int64, inner int) {
		rows := len(splits) - 1
		got, sum := make([]T, rows*inner), make([]T, rows*inner)
		whole := !dtype.Of[T]().IsFloat()
		if !whole { // neither too large nor too small
			x = slices.Clone(x)
			for i := range x {
				x[i] = number[T](real64(x[i])/1000 + 1)
			}
		}
		Prod(got, x, splits, inner)
		Sum(sum, x, splits, inner)
		for i := range got {
			r, want, wantSum := i/inner, T(1), T(0)
			for at := splits[r]; at < splits[r+1]; at++ {
				want *= x[int(at)*inner+i%inner]
				wantSum += x[int(at)*inner+i%inner]
			}
			switch tol := tolerance[T]() * float64(splits[r+1]-splits[r]); {
			case whole && (got[i] != want || sum[i] != wantSum):
				t.Errorf("Prod, Sum of row %d are %v, %v, want %v, %v", r, got[i], sum[i], want, wantSum)
			case !near(real64(got[i]), real64(want), 0, tol):
				t.Errorf("Prod of row %d is %v, want %v", r, got[i], want)
			}
		}
	})
}

// Truth values and their counts, in rows of every kind.
func TestTruthOfRows(t *testing.T) {
	eachCase(t, inners, func(t *testing.T, x []uint8, splits []int64, inner int) {
		rows := len(splits) - 1
		for _, limit := range []uint8{0, 1, 10, 255} {
			mask := make([]bool, len(x), cap(x))
			for i, v := range x {
				mask[i] = v >= limit
			}
			some, every, count := make([]bool, rows*inner), make([]bool, rows*inner), make([]int64, rows*inner)
			Any(some, mask, splits, inner)
			All(every, mask, splits, inner)
			CountNonzero(count, mask, splits, inner)
			for i := range count {
				r, n := i/inner, int64(0)
				for at := splits[r]; at < splits[r+1]; at++ {
					if mask[int(at)*inner+i%inner] {
						n++
					}
				}
				if count[i] != n || some[i] != (n > 0) || every[i] != (n == splits[r+1]-splits[r]) {
					t.Errorf("row %d has %d true values of %d: CountNonzero %d, Any %v, All %v", r, n, splits[r+1]-splits[r], count[i], some[i], every[i])
				}
			}
		}
	})
}

// NaN is not zero, both zeros are.
func TestCountOfSpecialValues(t *testing.T) {
	x := make([]float64, 0, 200)
	for len(x) < 200 {
		x = append(x, math.NaN(), 0, math.Copysign(0, -1), math.SmallestNonzeroFloat64, math.Inf(-1))
	}
	splits := []int64{0, 0, 5, 45, 200}
	atEachFamily(t, func(t *testing.T) {
		got := make([]int64, 4)
		if CountNonzero(got, x, splits, 1); !slices.Equal(got, []int64{0, 3, 24, 93}) {
			t.Errorf("CountNonzero = %v", got)
		}
		small := make([]float32, len(x))
		for i, v := range x {
			small[i] = float32(v) // the smallest becomes 0
		}
		if CountNonzero(got, small, splits, 1); !slices.Equal(got, []int64{0, 2, 16, 62}) {
			t.Errorf("CountNonzero = %v", got)
		}
	})
}

func TestAnyAll(t *testing.T) {
	x := []bool{true, false, true, true, false, false}
	splits := []int64{0, 2, 2, 4, 6}
	got := make([]bool, 4)
	if Any(got, x, splits, 1); !slices.Equal(got, []bool{true, false, true, false}) {
		t.Errorf("Any = %v", got)
	}
	if All(got, x, splits, 1); !slices.Equal(got, []bool{false, true, true, false}) {
		t.Errorf("All = %v", got)
	}
	if Any(got, x, []int64{0, 1, 3}, 2); !slices.Equal(got, []bool{true, false, true, true}) {
		t.Errorf("Any of items = %v", got)
	}
	if All(got, x, []int64{0, 1, 3}, 2); !slices.Equal(got, []bool{true, false, false, false}) {
		t.Errorf("All of items = %v", got)
	}
	count := make([]int64, 4)
	if CountNonzero(count, x, splits, 1); !slices.Equal(count, []int64{1, 0, 2, 0}) {
		t.Errorf("CountNonzero = %v", count)
	}
}

func TestSpecialValues(t *testing.T) {
	t.Run("float32", testSpecialValues[float32])
	t.Run("float64", testSpecialValues[float64])
	t.Run("float16", testSpecialValues[dtype.F16])
	t.Run("bfloat16", testSpecialValues[dtype.BF16])
}

// NaN is put at every place of rows of every length.
func testSpecialValues[T Float](t *testing.T) {
	nan, inf := number[T](math.NaN()), number[T](math.Inf(1))
	for n := range 70 {
		for at := range n {
			x := sample[T](rand.New(rand.NewPCG(1, uint64(n))), n+2, false)
			splits := []int64{0, 1, int64(n) + 1, int64(n) + 2}
			x[1+at] = nan
			out, arg := make([]T, 3), make([]int64, 3)
			atEachFamily(t, func(t *testing.T) {
				isNaN := func(name string, f func(out, x []T, splits []int64, inner int)) {
					f(out, x, splits, 1)
					if v := real64(out[1]); v == v {
						t.Errorf("%s of a row of %d with NaN at %d is %v", name, n, at, v)
					}
					if a, b := real64(out[0]), real64(out[2]); a != a || b != b {
						t.Errorf("%s lets NaN into the next row", name)
					}
				}
				isNaN("Max", Max[T])
				isNaN("Min", Min[T])
				isNaN("Sum", Sum[T])
				isNaN("Mean", Mean[T])
				isNaN("Prod", Prod[T])
				isNaN("Var", func(out, x []T, splits []int64, inner int) { Var(out, x, splits, inner, 0) })
				isNaN("LogSumExp", LogSumExp[T])
				ArgMax(arg, x, splits, 1)
				argMin := make([]int64, 3)
				ArgMin(argMin, x, splits, 1)
				if arg[1] != int64(at) || argMin[1] != int64(at) {
					t.Errorf("ArgMax, ArgMin of a row with NaN at %d are %d, %d", at, arg[1], argMin[1])
				}
			})
		}
	}
	x := []T{inf, number[T](-1), number[T](0), number[T](math.Inf(-1))}
	out := make([]T, 1)
	atEachFamily(t, func(t *testing.T) {
		if Max(out, x, []int64{0, 4}, 1); out[0] != inf {
			t.Errorf("Max = %v", out)
		}
		if Min(out, x, []int64{0, 4}, 1); out[0] != x[3] {
			t.Errorf("Min = %v", out)
		}
	})
}

// The float32 sum of many equal numbers keeps its digits.
func TestSumOfLongRow(t *testing.T) {
	x := make([]float32, 10_000_000)
	for i := range x {
		x[i] = 0.1
	}
	atEachFamily(t, func(t *testing.T) {
		out := make([]float32, 1)
		Sum(out, x, []int64{0, int64(len(x))}, 1)
		if want := float64(len(x)) * float64(x[0]); math.Abs(float64(out[0])-want) > 1e-6*want {
			t.Errorf("Sum = %v, want %v", out[0], want)
		}
	})
}
