package hashing

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon/internal/kernel/str"
	"pgregory.net/rapid"
)

// reference numbers rows by the text of their keys.
func reference(keys []string) (ids, first []int64) {
	seen := map[string]int64{}
	for i, k := range keys {
		id, ok := seen[k]
		if !ok {
			id = int64(len(first))
			seen[k] = id
			first = append(first, int64(i))
		}
		ids = append(ids, id)
	}
	return ids, first
}

func TestGroupOfSeveralColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 300).Draw(t, "n")
		a := rapid.SliceOfN(rapid.Int64Range(-3, 3), n, n).Draw(t, "a")
		b := rapid.SliceOfN(rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1.5, math.NaN(), math.Inf(1)}), n, n).Draw(t, "b")
		s := rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "b", "seven77", "eight888", "eight889", "eight88\x80", "eight88\x07", "eight88\x08", "\x00", "\x00\x00", "\x00\x00\x00\x00\x00\x00\x00\x07", strings.Repeat("x", 30)}), n, n).Draw(t, "s")
		keys := make([]string, n)
		for i := range keys {
			keys[i] = fmt.Sprint(a[i], b[i]+0, s[i])
		}
		columns := append(append(Numbers(a), Numbers(b)...), Strings(str.Of(s...)))
		ids := make([]int64, n)
		first := Group(ids, columns)
		wantIDs, wantFirst := reference(keys)
		if !slices.Equal(ids, wantIDs) || !slices.Equal(first, wantFirst) {
			t.Fatalf("got %v, %v, want %v, %v", ids, first, wantIDs, wantFirst)
		}
	})
}

// Many chunks, few and many distinct keys, one and several workers: the same answer.
func TestGroupInChunks(t *testing.T) {
	const n = 5*grain + 77
	for _, distinct := range []int{1, 100, grain / 8, n} {
		x, y := make([]int64, n), make([]string, n)
		for i := range x {
			x[i] = int64(i*7919%distinct) * 1000003
			y[i] = fmt.Sprintf("key number %d", x[i])
		}
		want, wantFirst := reference(y)
		for _, workers := range []int{1, 3} {
			before := runtime.GOMAXPROCS(workers)
			for name, c := range map[string][]Column{"numbers": Numbers(x), "strings": {Strings(str.Of(y...))}, "both": append(Numbers(x), Strings(str.Of(y...)))} {
				ids := make([]int64, n)
				if first := Group(ids, c); !slices.Equal(ids, want) || !slices.Equal(first, wantFirst) {
					t.Errorf("%s, %d distinct, %d workers: differs from the reference", name, distinct, workers)
				}
			}
			runtime.GOMAXPROCS(before)
		}
	}
}

func TestGroupWithoutColumns(t *testing.T) {
	ids := []int64{5, 5}
	if first := Group(ids, nil); !slices.Equal(first, []int64{0}) || !slices.Equal(ids, []int64{0, 0}) {
		t.Errorf("got %v, %v", ids, first)
	}
	if first := Group(nil, Numbers([]int64{})); len(first) != 0 {
		t.Errorf("got %v", first)
	}
}

func TestMatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		left := rapid.SliceOfN(rapid.Int32Range(0, 5), 0, 20).Draw(t, "left")
		right := rapid.SliceOfN(rapid.Int32Range(0, 5), 0, 20).Draw(t, "right")
		splits := make([]int64, len(left)+1)
		var index []int64
		total := Match(splits, Numbers(left, right), math.MaxInt64, into(&index))
		var want []int64
		for i, x := range left {
			for j, y := range right {
				if x == y {
					want = append(want, int64(j))
				}
			}
			if splits[i+1] != int64(len(want)) {
				t.Fatalf("splits %v", splits)
			}
		}
		if !slices.Equal(index, want) || total != int64(len(want)) {
			t.Fatalf("got %v, want %v", index, want)
		}
	})
}

func TestMatchHasALimit(t *testing.T) {
	x := make([]int8, 100)
	var index []int64
	if total := Match(make([]int64, 101), Numbers(x, x), 9999, into(&index)); index != nil || total != 10000 {
		t.Errorf("got %d elements, total %d", len(index), total)
	}
}

func TestCollect(t *testing.T) {
	splits := make([]int64, 4)
	var index []int64
	Collect(splits, []int64{2, 0, -1, 2, 0}, into(&index))
	if !slices.Equal(splits, []int64{0, 2, 2, 4}) || !slices.Equal(index, []int64{1, 4, 0, 3}) {
		t.Errorf("got %v, %v", splits, index)
	}
}

func BenchmarkGroup(b *testing.B) {
	const n = 1 << 17
	x, s := make([]int64, n), make([]string, n)
	for i := range x {
		x[i] = int64(i * 7919 % 24)
		s[i] = []string{"books", "music", "garden", "software"}[i*7919%4]
	}
	ids := make([]int64, n)
	col := str.Of(s...)
	b.Run("int64", func(b *testing.B) {
		for b.Loop() {
			Group(ids, Numbers(x))
		}
	})
	b.Run("string", func(b *testing.B) {
		for b.Loop() {
			Group(ids, []Column{Strings(col)})
		}
	})
	for i := range x {
		x[i] = int64(i) * 7919
	}
	b.Run("distinct", func(b *testing.B) {
		for b.Loop() {
			Group(ids, Numbers(x))
		}
	})
}

// into returns an allocator whose memory is found in to.
func into(to *[]int64) func(n int) []int64 {
	return func(n int) []int64 {
		*to = make([]int64, n)
		return *to
	}
}
