//go:build unix

package segment

import (
	"math"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tenonml/tenon/internal/arena"
	"github.com/tenonml/tenon/internal/kernel/gather"
)

// A bench holds rows of 0 to 20 float32, about ten million in a million rows.
type bench struct {
	splits []int64
	x      []float32
	idx    []int64 // 0.3 rows of them, random
}

var benchInput = sync.OnceValue(func() bench {
	const rows = 1_000_000
	rng := rand.New(rand.NewPCG(3, 0))
	lengths := make([]int64, rows)
	for r := range lengths {
		lengths[r] = int64(rng.IntN(21))
	}
	b := bench{splits: arena.Make[int64](rows + 1), idx: arena.Make[int64](rows * 3 / 10)}
	if err := SplitsFromLengths(b.splits, lengths); err != nil {
		panic(err)
	}
	b.x = arena.Make[float32](int(b.splits[rows]))
	for i := range b.x {
		b.x[i] = 2*rng.Float32() - 1
	}
	for i := range b.idx {
		b.idx[i] = int64(rng.IntN(rows))
	}
	return b
})

// measure reports bytes moved per second: on average, in the best call, and, with one
// processor, per second of processor time, which other work on the machine changes least.
func measure(b *testing.B, bytes int, f func()) {
	f()
	b.SetBytes(int64(bytes))
	best, busy := time.Duration(math.MaxInt64), processorTime(b)
	for b.Loop() {
		start := time.Now()
		f()
		best = min(best, time.Since(start))
	}
	busy = processorTime(b) - busy
	b.ReportMetric(float64(bytes)/float64(best), "best-GB/s")
	b.ReportMetric(float64(bytes)*float64(b.N)/float64(busy), "cpu-GB/s")
}

func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkReduce(b *testing.B) {
	in := benchInput()
	rows, n := len(in.splits)-1, len(in.x)
	out := arena.Make[float32](rows)
	bytes := 4*n + 8*len(in.splits) + 4*rows
	for _, c := range []struct {
		name string
		f    func(out, x []float32, splits []int64, inner int)
	}{{"sum", Sum[float32]}, {"max", Max[float32]}, {"min", Min[float32]}, {"mean", Mean[float32]}, {"logsumexp", LogSumExp[float32]}} {
		b.Run(c.name, func(b *testing.B) { measure(b, bytes, func() { c.f(out, in.x, in.splits, 1) }) })
	}
	p := arena.Make[float32](n)
	b.Run("softmax", func(b *testing.B) { measure(b, 8*n+8*len(in.splits), func() { Softmax(p, in.x, in.splits, 1) }) })
}

func BenchmarkLayout(b *testing.B) {
	in := benchInput()
	rows, n := len(in.splits)-1, len(in.x)
	padded, flat := arena.Make[float32](rows*20), arena.Make[float32](n)
	padBytes := 4*n + 8*len(in.splits) + 80*rows
	b.Run("pad", func(b *testing.B) {
		measure(b, padBytes, func() { Pad(padded, in.x, in.splits, 20, 1, []float32{0}) })
	})
	b.Run("unpad", func(b *testing.B) {
		measure(b, padBytes, func() { _ = Unpad(flat, padded, in.splits, 20, 1) })
	})
	b.Run("repeat", func(b *testing.B) {
		measure(b, 4*n+8*len(in.splits)+4*rows, func() { Repeat(flat, padded[:rows], in.splits, 1) })
	})
	mask, masked := make([]bool, n, n+64), make([]int64, rows+1)
	for i := range mask {
		mask[i] = in.x[i] > 0
	}
	b.Run("mask", func(b *testing.B) {
		measure(b, 7*n+16*len(in.splits), func() { Mask(flat, masked, in.x, in.splits, mask, 1) })
	})
	ids := make([]int64, n)
	b.Run("rowids", func(b *testing.B) {
		measure(b, 8*n+8*len(in.splits), func() { RowIDs(ids, in.splits) })
	})
	b.Run("check", func(b *testing.B) {
		measure(b, 8*len(in.splits), func() { _ = CheckSplits(in.splits, int64(n)) })
	})
	b.Run("argsort", func(b *testing.B) {
		measure(b, 12*n+8*len(in.splits), func() { ArgSort(ids, in.x, in.splits, 1, false) })
	})
	b.Run("sort", func(b *testing.B) {
		measure(b, 8*n+8*len(in.splits), func() { Sort(flat, in.x, in.splits, 1, false) })
	})
	b.Run("cumsum", func(b *testing.B) {
		measure(b, 8*n+8*len(in.splits), func() { CumSum(flat, in.x, in.splits, 1, Cumulation{}) })
	})
}

func BenchmarkGatherConcat(b *testing.B) {
	in := benchInput()
	k := len(in.idx)
	s1, s2 := arena.Make[int64](k+1), arena.Make[int64](k+1)
	at := make([]int64, k)
	n1, _ := GatherSplits(s1, at, in.splits, in.idx)
	other := make([]int64, k)
	for i := range other {
		other[i] = in.idx[k-1-i]
	}
	g1 := arena.Make[float32](int(n1))
	b.Run("gather", func(b *testing.B) {
		measure(b, 8*int(n1), func() {
			_, _ = GatherSplits(s1, at, in.splits, in.idx)
			Gather(g1, in.x, s1, at, 1)
		})
	})
	b.Run("gathersplits", func(b *testing.B) {
		measure(b, 32*k, func() { _, _ = GatherSplits(s1, at, in.splits, in.idx) })
	})
	n2, _ := GatherSplits(s2, at, in.splits, other)
	g2 := arena.Make[float32](int(n2))
	Gather(g2, in.x, s2, at, 1)
	both, splits := arena.Make[float32](int(n1+n2)), arena.Make[int64](2*k+1)
	b.Run("concat0", func(b *testing.B) {
		measure(b, 8*int(n1+n2), func() {
			_ = StackSplits(splits, s1, s2)
			Join(both, g1, g2)
		})
	})
	b.Run("concat1", func(b *testing.B) {
		measure(b, 8*int(n1+n2), func() {
			_ = ZipSplits(splits[:k+1], s1, s2)
			Zip(both, splits[:k+1], [][]float32{g1, g2}, [][]int64{s1, s2}, 1)
		})
	})
	b.Run("rows16", func(b *testing.B) {
		out, at := arena.Make[float32](16*k), make([]int64, k)
		for i := range at {
			at[i] = in.idx[i] * 9 / 16
		}
		measure(b, 128*k, func() { _ = gather.Rows(out, in.x, at, 16) })
	})
}

// The ceilings that the other figures are shares of.
func BenchmarkMemory(b *testing.B) {
	x, y := arena.Make[float32](64<<20), arena.Make[float32](64<<20)
	b.Run("copy256MiB", func(b *testing.B) { measure(b, 8*len(x), func() { copy(y, x) }) })
	b.Run("copy16MiB", func(b *testing.B) { measure(b, 32<<20, func() { copy(y[:4<<20], x[:4<<20]) }) })
	var sink int
	asBool := make([]bool, 256<<20)
	b.Run("read256MiB", func(b *testing.B) { measure(b, len(asBool), func() { sink += gather.CountTrue(asBool) }) })
	_ = sink
}
