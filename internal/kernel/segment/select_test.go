package segment

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tenonml/tenon/dtype"
)

// pythonSlice is Python's slicing by its definition: it walks the positions.
func pythonSlice(n int64, s Slice) []int64 {
	step := s.Step
	if step == 0 {
		step = 1
	}
	clamp := func(p, low, high int64) int64 {
		if p < 0 {
			p += n
		}
		return min(max(p, low), high)
	}
	var out []int64
	if step > 0 {
		start, stop := int64(0), n
		if s.HasStart {
			start = clamp(s.Start, 0, n)
		}
		if s.HasStop {
			stop = clamp(s.Stop, 0, n)
		}
		for p := start; p < stop; p += step {
			out = append(out, p)
			if step > n {
				break
			}
		}
		return out
	}
	start, stop := n-1, int64(-1)
	if s.HasStart {
		start = clamp(s.Start, -1, n-1)
	}
	if s.HasStop {
		stop = clamp(s.Stop, -1, n-1)
	}
	for p := start; p > stop; p += step {
		out = append(out, p)
		if step < -n {
			break
		}
	}
	return out
}

func TestSelect(t *testing.T) {
	splits := splitsOf([]int64{0, 1, 5, 2, 9, 0})
	x := numbered[int64](int(splits[6]) * 2)
	bounds := []int64{math.MinInt64, -10, -5, -2, -1, 0, 1, 2, 4, 5, 9, 10, math.MaxInt64}
	for _, step := range []int64{0, 1, 2, 3, -1, -2, 100, -100, math.MaxInt64, math.MinInt64} {
		for _, start := range bounds {
			for _, stop := range bounds {
				for missing := range 4 {
					s := Slice{Start: start, Stop: stop, Step: step, HasStart: missing&1 == 0, HasStop: missing&2 == 0}
					outSplits := make([]int64, len(splits))
					total := SliceSplits(outSplits, splits, s)
					var want, lengths []int64
					for r := range 6 {
						p := pythonSlice(splits[r+1]-splits[r], s)
						lengths = append(lengths, int64(len(p)))
						for _, at := range p {
							want = append(want, splits[r]+at)
						}
					}
					if !slices.Equal(outSplits, splitsOf(lengths)) || total != int64(len(want)) {
						t.Fatalf("SliceSplits(%+v) = %v, want %v", s, outSplits, splitsOf(lengths))
					}
					at := make([]int64, total)
					if SelectPositions(at, outSplits, splits, s); !slices.Equal(at, want) {
						t.Fatalf("SelectPositions(%+v) = %v, want %v", s, at, want)
					}
					out := make([]int64, 2*total)
					Select(out, x, outSplits, splits, s, 2)
					for i, p := range want {
						if out[2*i] != 2*p || out[2*i+1] != 2*p+1 {
							t.Fatalf("Select(%+v) = %v", s, out)
						}
					}
				}
			}
		}
	}
}

// Rows of every kind, by kernels and without.
func TestSelectOfRows(t *testing.T) {
	t.Run("4 bytes", testSelectOfRows[float32])
	t.Run("8 bytes", testSelectOfRows[int64])
	t.Run("2 bytes", testSelectOfRows[uint16])
}

func testSelectOfRows[T dtype.Real](t *testing.T) {
	cuts := []Slice{{}, {Start: 1, HasStart: true}, {Stop: -1, HasStop: true}, {Start: 2, Stop: 7, HasStart: true, HasStop: true}, {Start: -3, HasStart: true}}
	for _, step := range []int64{2, 3, 5, 31, 40, -1, -2, -7} {
		cuts = append(cuts, Slice{Step: step}, Slice{Start: 1, Stop: -2, Step: step, HasStart: true, HasStop: true}, Slice{Start: -2, Step: step, HasStart: true})
	}
	rng := rand.New(rand.NewPCG(7, 31))
	for name, lengths := range partitions(rng) {
		splits := splitsOf(lengths)
		rows := len(lengths)
		for _, inner := range []int{1, 2, 3, 20} {
			if inner > 3 && splits[rows] > 5000 {
				continue
			}
			x := sample[T](rng, int(splits[rows])*inner, rng.IntN(2) == 0)
			for _, s := range cuts {
				outSplits := make([]int64, rows+1)
				var want []T
				for r := range rows {
					p := pythonSlice(splits[r+1]-splits[r], s)
					for _, at := range p {
						want = append(want, x[int(splits[r]+at)*inner:][:inner]...)
					}
					outSplits[r+1] = outSplits[r] + int64(len(p))
				}
				got := make([]T, len(want))
				atEachFlow(t, func(t *testing.T) {
					clear(got)
					Select(got, x, outSplits, splits, s, inner)
					for i, v := range got {
						if v != want[i] {
							t.Fatalf("%s, inner %d, %+v: element %d of %d is %v, want %v", name, inner, s, i, len(got), v, want[i])
						}
					}
				})
			}
			reversed := make([]T, len(x))
			atEachFlow(t, func(t *testing.T) {
				Reverse(reversed, x, splits, inner)
				for r := range rows {
					for i := splits[r]; i < splits[r+1]; i++ {
						if v, want := reversed[int(i)*inner], x[int(splits[r]+splits[r+1]-1-i)*inner]; v != want {
							t.Fatalf("%s, inner %d: item %d reversed begins with %v, want %v", name, inner, i, v, want)
						}
					}
				}
			})
		}
	}
}

func TestRange(t *testing.T) {
	for _, c := range []struct {
		starts, limits, deltas []int32
		splits                 []int64
		want                   []int32
	}{
		{[]int32{0}, []int32{3, 0, 2}, []int32{1}, []int64{0, 3, 3, 5}, []int32{0, 1, 2, 0, 1}},
		{[]int32{0, 5, 8}, []int32{7, 0, 8}, []int32{2, -2, 3}, []int64{0, 4, 7, 7}, []int32{0, 2, 4, 6, 5, 3, 1}},
		{[]int32{-1}, []int32{7}, []int32{-1}, []int64{0, 0}, nil},
		{[]int32{math.MinInt32}, []int32{math.MaxInt32}, []int32{math.MaxInt32}, []int64{0, 3}, []int32{math.MinInt32, -1, math.MaxInt32 - 1}},
	} {
		splits := make([]int64, len(c.splits))
		total, err := RangeSplits(splits, c.starts, c.limits, c.deltas)
		if err != nil || !slices.Equal(splits, c.splits) {
			t.Errorf("RangeSplits = %v, %v", splits, err)
			continue
		}
		out := make([]int32, total)
		if Range(out, splits, c.starts, c.deltas); !slices.Equal(out, c.want) {
			t.Errorf("Range = %v, want %v", out, c.want)
		}
	}
	splits := make([]int64, 3)
	total, err := RangeSplits(splits, []float32{0, 1}, []float32{1, 2}, []float32{.25, .5})
	out := make([]float32, total)
	Range(out, splits, []float32{0, 1}, []float32{.25, .5})
	if err != nil || !slices.Equal(out, []float32{0, .25, .5, .75, 1, 1.5}) {
		t.Errorf("Range = %v, %v", out, err)
	}
	if _, err := RangeSplits(splits[:2], []uint64{0}, []uint64{math.MaxUint64}, []uint64{1 << 40}); err != nil || splits[1] != 1<<24 {
		t.Errorf("RangeSplits = %v, %v", splits, err)
	}
	if _, err := RangeSplits(splits[:2], []int64{math.MaxInt64}, []int64{math.MinInt64}, []int64{math.MinInt64}); err != nil || splits[1] != 2 {
		t.Errorf("RangeSplits = %v, %v", splits, err)
	}
	_, err = RangeSplits(splits, []int64{0}, []int64{2, 3}, []int64{1, 0})
	fails(t, err, "range: entry 1: from 0 to 3 by 0 has a step of zero")
	_, err = RangeSplits(splits, []int64{math.MinInt64}, []int64{math.MaxInt64}, []int64{1})
	fails(t, err, "too many values")
	_, err = RangeSplits(splits, []float64{0}, []float64{1e300}, []float64{1})
	fails(t, err, "too many values")
	_, err = RangeSplits(splits, []float64{0}, []float64{math.NaN()}, []float64{1})
	fails(t, err, "has no size")
	_, err = RangeSplits(splits, []float64{0}, []float64{MaxRange * .75}, []float64{1})
	fails(t, err, "overflow")
}

func TestCumulative(t *testing.T) {
	x := []int32{1, 2, 3, 4, 5, 6}
	splits := []int64{0, 3, 3, 6}
	for _, c := range []struct {
		c          Cumulation
		sums, prod []int32
	}{
		{Cumulation{}, []int32{1, 3, 6, 4, 9, 15}, []int32{1, 2, 6, 4, 20, 120}},
		{Cumulation{Exclusive: true}, []int32{0, 1, 3, 0, 4, 9}, []int32{1, 1, 2, 1, 4, 20}},
		{Cumulation{Reverse: true}, []int32{6, 5, 3, 15, 11, 6}, []int32{6, 6, 3, 120, 30, 6}},
		{Cumulation{Exclusive: true, Reverse: true}, []int32{5, 3, 0, 11, 6, 0}, []int32{6, 3, 1, 30, 6, 1}},
	} {
		out := make([]int32, 6)
		if CumSum(out, x, splits, 1, c.c); !slices.Equal(out, c.sums) {
			t.Errorf("CumSum %+v = %v", c.c, out)
		}
		if CumProd(out, x, splits, 1, c.c); !slices.Equal(out, c.prod) {
			t.Errorf("CumProd %+v = %v", c.c, out)
		}
		inPlace := slices.Clone(x)
		if CumSum(inPlace, inPlace, splits, 1, c.c); !slices.Equal(inPlace, c.sums) {
			t.Errorf("CumSum in place %+v = %v", c.c, inPlace)
		}
	}
	out := make([]float64, 6)
	CumSum(out, []float64{1, 10, 2, 20, math.Inf(1), 5}, []int64{0, 2, 3}, 2, Cumulation{})
	if !slices.Equal(out, []float64{1, 10, 3, 30, math.Inf(1), 5}) {
		t.Errorf("CumSum of items = %v", out)
	}
}
