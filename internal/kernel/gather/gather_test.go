package gather

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tenonml/tenon/dtype"
)

func numbered[T any](n int, from func(i int) T) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = from(i)
	}
	return x
}

func TestRows(t *testing.T) {
	testRows(t, func(i int) uint8 { return uint8(i * 7) })
	testRows(t, func(i int) int16 { return int16(i) })
	testRows(t, func(i int) float32 { return float32(i) })
	testRows(t, func(i int) int64 { return int64(i) })
	testRows(t, func(i int) complex128 { return complex(float64(i), 1) })
}

func testRows[T comparable](t *testing.T, from func(i int) T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, width := range []int{1, 2, 3, 4, 7, 8, 16, 17, 64, 100} {
		for _, rows := range []int{1, 5, 1000} {
			src := numbered(rows*width+1, from)[1:]
			for _, n := range []int{0, 1, 3, 50, 3000} {
				idx := make([]int32, n)
				for i := range idx {
					idx[i] = int32(rng.IntN(rows))
				}
				all := numbered(n*width+2, from)
				first, last := all[0], all[len(all)-1]
				out := all[1 : 1+n*width : 1+n*width]
				atEachFamily(t, func(t *testing.T) {
					clear(out)
					if err := Rows(out, slices.Clip(src), idx, width); err != nil {
						t.Fatal(err)
					}
					for i, at := range idx {
						if !slices.Equal(out[i*width:(i+1)*width], src[int(at)*width:(int(at)+1)*width]) {
							t.Fatalf("row %d of %d, width %d of %T", i, n, width, src[0])
						}
					}
					if all[0] != first || all[len(all)-1] != last {
						t.Fatalf("width %d: written outside the output", width)
					}
				})
			}
		}
	}
}

func TestIndexErrors(t *testing.T) {
	src := make([]float32, 10)
	out := make([]float32, 100)
	for _, c := range []struct {
		idx   []int64
		pos   int
		width int
	}{
		{[]int64{0, 5}, 1, 2},
		{[]int64{-1, 5}, 0, 2},
		{[]int64{0, 1, math.MinInt64}, 2, 1},
		{[]int64{math.MaxInt64}, 0, 1},
		{[]int64{0}, 0, 11},
	} {
		for name, err := range map[string]error{
			"Rows":   Rows(out, src, c.idx, c.width),
			"Update": Update(src, out, c.idx, c.width),
			"Add":    Add(src, out, c.idx, c.width),
			"Max":    Max(src, out, c.idx, c.width),
			"Min":    Min(src, out, c.idx, c.width),
		} {
			var e *IndexError
			if !errors.As(err, &e) || e.Pos != c.pos || e.Index != c.idx[c.pos] || e.Limit != int64(10/c.width) {
				t.Errorf("%s with %v: error %v", name, c.idx, err)
			}
		}
	}
	if err := Check([]int32{}, 0); err != nil {
		t.Error(err)
	}
	if err := Check([]int32{0}, 0); err == nil {
		t.Error("an index into nothing is accepted")
	}
	long := make([]int64, 3*chunk)
	long[2*chunk+7] = 9
	if e, ok := Check(long, 9).(*IndexError); !ok || e.Pos != 2*chunk+7 {
		t.Errorf("error %v", e)
	}
	if err := Rows[float32, int32](nil, nil, []int32{4}, 0); err != nil {
		t.Errorf("rows of nothing: %v", err)
	}
}

func TestNormalize(t *testing.T) {
	idx := []int32{-1, 2, -5, -6, 5}
	Normalize(idx, idx, 5)
	if !slices.Equal(idx, []int32{4, 2, 0, -1, 5}) {
		t.Errorf("Normalize = %v", idx)
	}
}

func TestRowsOr(t *testing.T) {
	out := make([]int16, 8)
	RowsOr(out, []int16{1, 2, 3, 4}, []int64{1, -1, 0, 2}, 2, 9)
	if !slices.Equal(out, []int16{3, 4, 9, 9, 1, 2, 9, 9}) {
		t.Errorf("RowsOr = %v", out)
	}
}

func TestAlongAxis(t *testing.T) {
	// Shape [2, 3, 2], picked to [2, 2, 2].
	src := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	idx := []int32{2, 0, 0, 1, 1, 1, 2, 0}
	out := make([]float64, 8)
	if err := AlongAxis(out, src, idx, 2, 3, 2, 2); err != nil || !slices.Equal(out, []float64{5, 2, 1, 4, 9, 10, 11, 8}) {
		t.Errorf("AlongAxis = %v, %v", out, err)
	}
	idx[3] = 3
	if err := AlongAxis(out, src, idx, 2, 3, 2, 2); err == nil || err.Error() != "index 3 at position 3 is outside [0, 3)" {
		t.Errorf("error %v", err)
	}
}

func TestFlattenAndCoordinates(t *testing.T) {
	dims := []int{3, 4, 5}
	tuples := []int64{0, 0, 0, 2, 3, 4, 1, 0, 2}
	flat := make([]int64, 3)
	if err := Flatten(flat, tuples, dims); err != nil || !slices.Equal(flat, []int64{0, 59, 22}) {
		t.Errorf("Flatten = %v, %v", flat, err)
	}
	back := make([]int64, 9)
	if Coordinates(back, flat, dims); !slices.Equal(back, tuples) {
		t.Errorf("Coordinates = %v", back)
	}
	tuples[4] = 4
	if err := Flatten(flat, tuples, dims); err == nil || err.Error() != "index 4 at position 4 is outside [0, 4)" {
		t.Errorf("error %v", err)
	}
	if err := Batch(flat, []int32{0, 1, 1}, 1, 2); err != nil || !slices.Equal(flat, []int64{0, 3, 5}) {
		t.Errorf("Batch = %v, %v", flat, err)
	}
}

func TestScatter(t *testing.T) {
	idx := []int32{2, 0, 2}
	updates := []float32{1, 10, 2, 20, 3, 5}
	nan := float32(math.NaN())
	for name, c := range map[string]struct {
		f    func(dst, updates []float32, idx []int32, width int) error
		want []float32
	}{
		"Update": {Update[float32, int32], []float32{2, 20, 7, 7, 3, 5}},
		"Add":    {Add[float32, int32], []float32{9, 27, 7, 7, 11, 22}},
		"Max":    {Max[float32, int32], []float32{7, 20, 7, 7, 7, 10}},
		"Min":    {Min[float32, int32], []float32{2, 7, 7, 7, 1, 5}},
	} {
		dst := []float32{7, 7, 7, 7, 7, 7}
		if err := c.f(dst, updates, idx, 2); err != nil || !slices.Equal(dst, c.want) {
			t.Errorf("%s = %v, %v", name, dst, err)
		}
		one := []float32{7, 7}
		if err := c.f(one, []float32{nan}, []int32{1}, 1); err != nil || one[0] != 7 || one[1] == one[1] {
			t.Errorf("%s of NaN = %v, %v", name, one, err)
		}
	}
	half := []dtype.F16{dtype.F16From(1)}
	if err := Add(half, []dtype.F16{dtype.F16From(.5), dtype.F16From(2)}, []int32{0, 0}, 1); err != nil || half[0].Float32() != 3.5 {
		t.Errorf("Add = %v, %v", half, err)
	}
	if err := Max(half, []dtype.F16{dtype.F16From(-9), dtype.F16From(8)}, []int32{0, 0}, 1); err != nil || half[0].Float32() != 8 {
		t.Errorf("Max = %v, %v", half, err)
	}
	brain := []dtype.BF16{dtype.BF16From(1)}
	if err := Min(brain, []dtype.BF16{dtype.BF16From(-9)}, []int64{0}, 1); err != nil || brain[0].Float32() != -9 {
		t.Errorf("Min = %v, %v", brain, err)
	}
}

// Wide rows are added by several workers, each taking some columns.
func TestAddRows(t *testing.T) {
	t.Run("float32", testAddRows[float32])
	t.Run("float64", testAddRows[float64])
	t.Run("int32", testAddRows[int32])
}

func testAddRows[T float32 | float64 | int32](t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, width := range []int{1, 2, 4, 5, 8, 16, 17, 33, 100, 128, 300, 333} {
		const rows, n = 50, 400
		idx := make([]int64, n)
		updates := make([]T, n*width)
		for i := range idx {
			idx[i] = int64(rng.IntN(rows))
		}
		start := make([]T, rows*width)
		for i := range start {
			start[i] = T(rng.IntN(100))
		}
		want := slices.Clone(start)
		for i := range updates {
			updates[i] = T(rng.IntN(100))
			want[int(idx[i/width])*width+i%width] += updates[i]
		}
		atEachFamily(t, func(t *testing.T) {
			got := append(make([]T, 3), start...)[3:]
			if err := Add(got, updates, idx, width); err != nil || !slices.Equal(got, want) {
				t.Errorf("Add of rows of %d differs, %v", width, err)
			}
			some, dropped := slices.Clone(idx), slices.Clone(start)
			for i := range some {
				if i%3 == 0 {
					some[i] = -1 - some[i]
				}
			}
			AddDropping(dropped, updates, some, width)
			wanted := slices.Clone(start)
			for i := range updates {
				if some[i/width] >= 0 {
					wanted[int(some[i/width])*width+i%width] += updates[i]
				}
			}
			if !slices.Equal(dropped, wanted) {
				t.Errorf("AddDropping of rows of %d differs", width)
			}
		})
	}
}

func TestMask(t *testing.T) {
	testMask(t, func(i int) uint8 { return uint8(i * 7) })
	testMask(t, func(i int) int16 { return int16(i) })
	testMask(t, func(i int) float32 { return float32(i) })
	testMask(t, func(i int) int64 { return int64(i) })
	testMask(t, func(i int) complex128 { return complex(float64(i), 1) })
}

func testMask[T comparable](t *testing.T, from func(i int) T) {
	rng := rand.New(rand.NewPCG(5, 6))
	lengths := []int{1000, 1024, 1025, 5000, 2*chunk + 77}
	for n := range 200 {
		lengths = append(lengths, n)
	}
	for _, n := range lengths {
		percent := []int{0, 2, 30, 50, 98, 100}[rng.IntN(6)]
		mask := make([]bool, n+3)[3:]
		for i := range mask {
			mask[i] = rng.IntN(100) < percent
		}
		if n > 100 && n%3 == 0 {
			clear(mask[20 : n-10])
		}
		var want []int64
		before := make([]int64, n+1)
		for i, m := range mask {
			if m {
				want = append(want, int64(i))
			}
			before[i+1] = int64(len(want))
		}
		atEachFamily(t, func(t *testing.T) {
			if got := CountTrue(mask); got != len(want) {
				t.Fatalf("CountTrue of %d = %d, want %d", n, got, len(want))
			}
			at := make([]int64, len(want))
			if got := TrueAt(at, mask); got != len(want) || !slices.Equal(at, want) {
				t.Fatalf("TrueAt of %d = %d, %v, want %v", n, got, at, want)
			}
			b := NewBitmap(mask)
			if b.Count() != len(want) {
				t.Fatalf("Count of %d = %d, want %d", n, b.Count(), len(want))
			}
			positions, all := make([]int64, n+1), make([]int64, n+1)
			for i := range positions {
				positions[i] = int64(i)
			}
			if b.BeforeAll(all, positions); !slices.Equal(all, before) {
				t.Fatalf("BeforeAll of %d differs", n)
			}
			for i, w := range before {
				if got := b.Before(int64(i)); got != w {
					t.Fatalf("Before(%d) of %d = %d, want %d", i, n, got, w)
				}
			}
			for _, width := range []int{1, 3} {
				x := numbered(n*width, from)
				all := numbered(len(want)*width+40, from)
				out := all[20 : 20+len(want)*width : 20+len(want)*width]
				clear(out)
				if got := Compact(out, x, mask, width); got != len(want) {
					t.Fatalf("Compact of %d = %d", n, got)
				}
				if width == 1 {
					clear(out)
					CompactBy(out, x, b)
				}
				for i, v := range out {
					if v != x[int(want[i/width])*width+i%width] {
						t.Fatalf("Compact of %d rows of %d: %v at %d", n, width, v, i)
					}
				}
				for i := range 20 {
					if all[i] != from(i) || all[20+len(out)+i] != from(20+len(out)+i) {
						t.Fatalf("Compact of %d rows of %d writes outside its output", n, width)
					}
				}
			}
		})
	}
}

func TestNonzero(t *testing.T) {
	negativeZero := math.Copysign(0, -1)
	got := make([]bool, 4)
	want := []bool{true, false, false, true}
	if Nonzero(got, []float64{math.NaN(), 0, negativeZero, 1}); !slices.Equal(got, want) {
		t.Errorf("float64: %v", got)
	}
	if Nonzero(got, []dtype.F16{0x7e00, 0, 0x8000, 1}); !slices.Equal(got, want) {
		t.Errorf("float16: %v", got)
	}
	if Nonzero(got, []dtype.BF16{0x7fc0, 0, 0x8000, 1}); !slices.Equal(got, want) {
		t.Errorf("bfloat16: %v", got)
	}
	if Nonzero(got, []complex64{1i, 0, 0, 1}); !slices.Equal(got, want) {
		t.Errorf("complex64: %v", got)
	}
}
