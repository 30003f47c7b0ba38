//go:build linux

package segment

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"unsafe"

	"github.com/tenonml/tenon/internal/kernel/gather"
)

// fenced returns n elements behind which, after slack bytes of capacity, comes a page
// that cannot be touched; with front the page is before them instead.
func fenced[T any](t *testing.T, n, slack int, front bool) []T {
	t.Helper()
	page, size := syscall.Getpagesize(), int(unsafe.Sizeof(*new(T)))
	bytes := n*size + slack
	whole := (bytes + page - 1) / page * page
	mem, err := syscall.Mmap(-1, 0, whole+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(mem); err != nil {
			t.Error(err)
		}
	})
	for _, guard := range [][]byte{mem[:page], mem[page+whole:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	first := page
	if !front {
		first = page + whole - bytes
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&mem[first])), n+slack/size)[:n]
}

// No kernel touches memory outside the capacity of what it is given, wherever that
// lies. A violation is a fault, not a failure.
func TestNothingOutsideIsTouched(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, longest := range []int{0, 3, 20, 40, 300} {
		lengths := make([]int64, 70)
		for r := range lengths {
			lengths[r] = int64(rng.IntN(longest + 1))
		}
		for _, tail := range []int64{0, 1, 5} {
			lengths[69] = tail
			for _, slack := range []int{0, 8, 64, 192} {
				for _, front := range []bool{false, true} {
					t.Run("", func(t *testing.T) { touchEverything[float32](t, rng, lengths, slack, front) })
					t.Run("", func(t *testing.T) { touchEverything[float64](t, rng, lengths, slack, front) })
				}
			}
		}
	}
}

func touchEverything[T float32 | float64](t *testing.T, rng *rand.Rand, lengths []int64, slack int, front bool) {
	rows := len(lengths)
	splits := fenced[int64](t, rows+1, 0, front)
	copy(splits, splitsOf(lengths))
	n := int(splits[rows])
	x, y := fenced[T](t, n, slack, front), fenced[T](t, n, slack, front)
	for i := range x {
		x[i] = T(rng.NormFloat64())
	}
	perRow, padded := fenced[T](t, rows, slack, front), fenced[T](t, rows*20, slack, front)
	ids, outSplits := fenced[int64](t, n, slack, front), fenced[int64](t, rows+1, 0, front)
	idx := fenced[int64](t, rows, 0, front)
	for i := range idx {
		idx[i] = int64(rng.IntN(rows))
	}
	idx[3] = int64(rows - 1)
	idxOut, truth, double := fenced[int64](t, rows, 0, front), fenced[bool](t, rows, 0, front), fenced[float64](t, rows, 0, front)
	mask := fenced[bool](t, n, slack, front)
	for i := range mask {
		mask[i] = rng.IntN(2) == 0
	}
	atEachFlow(t, func(t *testing.T) {
		Sum(perRow, x, splits, 1)
		Mean(perRow, x, splits, 1)
		Max(perRow, x, splits, 1)
		Min(perRow, x, splits, 1)
		Prod(perRow, x, splits, 1)
		Var(perRow, x, splits, 1, 0)
		ArgMax(idxOut, x, splits, 1)
		ArgMin(idxOut, x, splits, 1)
		CountNonzero(idxOut, x, splits, 1)
		CountNonzero(idxOut, mask, splits, 1)
		Any(truth, mask, splits, 1)
		All(truth, mask, splits, 1)
		MeanInt(double, ids, splits, 1)
		VarInt(double, ids, splits, 1, 0)
		LogSumExp(perRow, x, splits, 1)
		Softmax(y, x, splits, 1)
		LogSoftmax(y, x, splits, 1)
		Pad(padded, x, splits, 20, 1, []T{0})
		for _, lists := range [][]int64{{0, int64(rows)}, {0, 3, 3, 40, int64(rows)}} {
			ends, _ := laidOver(splits, lists)
			down, flags := fenced[T](t, int(ends[len(lists)-1]), 0, front), fenced[bool](t, int(ends[len(lists)-1]), 0, front)
			for _, f := range []Fold{FoldSum, FoldProd, FoldMax, FoldMin} {
				ByPosition(f, down, ends, x, splits, lists)
			}
			AnyByPosition(flags[:len(down)], ends, mask, splits, lists)
			AllByPosition(flags[:len(down)], ends, mask, splits, lists)
		}
		Reverse(y, x, splits, 1)
		for _, s := range []Slice{{Start: 1, HasStart: true}, {Step: 2}, {Step: 3, Start: -5, HasStart: true}, {Step: -2}} {
			some := fenced[int64](t, rows+1, 0, front)
			Select(fenced[T](t, int(SliceSplits(some, splits, s)), slack, front), x, some, splits, s, 1)
		}
		raw := bytesOf(x)
		for _, width := range []int{3, 20} {
			filled := make([]int64, rows+1)
			FillUpSplits(filled, splits, width)
			size := len(raw) / max(n, 1)
			FillUp(fenced[byte](t, int(filled[rows])*size, slack, front), filled, raw, splits, width, size)
			Present(fenced[bool](t, int(filled[rows]), 0, front), filled, splits, width)
			Present(fenced[bool](t, rows*width, 0, front), nil, splits, width)
		}
		Repeat(y, perRow, splits, 1)
		RowIDs(ids, splits)
		Offsets(ids, splits)
		ArgSort(ids, x, splits, 1, true)
		if err := CheckSplits(splits, int64(n)); err != nil {
			t.Error(err)
		}
		short := make([]int64, rows)
		for r, l := range lengths {
			short[r] = min(l, 20)
		}
		shortSplits := fenced[int64](t, rows+1, 0, front)
		copy(shortSplits, splitsOf(short))
		if err := Unpad(fenced[T](t, int(shortSplits[rows]), slack, front), padded, shortSplits, 20, 1); err != nil {
			t.Error(err)
		}
		starts := make([]int64, len(idx))
		total, err := GatherSplits(outSplits, starts, splits, idx)
		if err != nil {
			t.Error(err)
		}
		gathered := fenced[T](t, int(total), slack, front)
		Gather(gathered, x, outSplits, starts, 1)
		zipped, zippedSplits := fenced[T](t, int(total)+n, slack, front), make([]int64, rows+1)
		if err := ZipSplits(zippedSplits, outSplits, splits); err != nil {
			t.Error(err)
		}
		Zip(zipped, zippedSplits, [][]T{gathered, x}, [][]int64{outSplits, splits}, 1)
		Mask(fenced[T](t, gather.CountTrue(mask), slack, front), outSplits, x, splits, mask, 1)
	})
}
