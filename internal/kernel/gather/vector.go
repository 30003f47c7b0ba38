package gather

import (
	"reflect"
	"unsafe"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/cpu"
)

// kernels are the vector kernels for one instruction set: all of them, or none.
type kernels struct {
	short [3]rowKernel // copy rows of 8 to 16, 16 to 32 and 32 to 64 bytes

	// rows copies rows of at least 64 bytes. past does so with non-temporal stores, for rows of a
	// multiple of 64 bytes and a destination aligned to that.
	rows, past rowKernel

	// ranks packs a mask into bits. compress keeps the elements, of 4 and of 8 bytes, whose bits
	// are set.
	ranks    func(bits *uint64, ranks *int64, mask *byte, words int) int64
	compress [2]func(dst, x *byte, bits *uint64, words int)
	before   func(out, positions *int64, bits *uint64, ranks *int64, n int)

	add32 func(dst, x *float32, idx *int64, n, stride, width int)
	add64 func(dst, x *float64, idx *int64, n, stride, width int)
}

var table = cpu.NewTable(kernels{})

type rowKernel = func(dst, src *byte, idx *int64, n, ahead, bytes int)

// largeOutput is the size in bytes from which a result is written with non-temporal stores, because
// none of it would still be in cache when it is read. Tests lower it.
var largeOutput = 16 << 20

// holdsNoPointers reports whether T is a number or a boolean. Kernels cannot move pointers, because
// they have no write barriers.
func holdsNoPointers[T any]() bool {
	k := reflect.TypeFor[T]().Kind()
	return reflect.Bool <= k && k <= reflect.Complex128
}

func bytesOf[T any](x []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(*new(T))))
}

// asInt64 returns idx as int64. It copies if idx is int32.
func asInt64[I Index](idx []I) []int64 {
	if unsafe.Sizeof(*new(I)) == 8 {
		return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(idx))), len(idx))
	}
	wide := make([]int64, len(idx))
	for i, v := range idx {
		wide[i] = int64(v)
	}
	return wide
}

// rowsVectorised is [Rows] by vector kernels, for indices that have been checked; it reports
// whether they can do it.
func rowsVectorised[T any, I Index](out, src []T, idx []I, width int) bool {
	k := table.Now()
	bytes := width * int(unsafe.Sizeof(*new(T)))
	if k.rows == nil || width == 1 || bytes < 8 || bytes > chunk || !holdsNoPointers[T]() {
		return false
	}
	dst, from := bytesOf(out), bytesOf(src)
	kernel := k.rows
	switch {
	case bytes < 16:
		kernel = k.short[0]
	case bytes < 32:
		kernel = k.short[1]
	case bytes <= 64:
		kernel = k.short[2]
	case len(dst) >= largeOutput && bytes%64 == 0 && uintptr(unsafe.Pointer(&dst[0]))%64 == 0:
		kernel = k.past
	}
	at := asInt64(idx)
	eachChunk(len(at), width, func(lo, hi int) {
		kernel(&dst[lo*bytes], &from[0], &at[lo], hi-lo, len(at)-hi, bytes)
	})
	return true
}

// addVectorised adds rows to rows by vector kernels and reports whether they can do it. Negative
// indices are skipped; the others must be in range.
func addVectorised[T dtype.Number, I Index](dst, updates []T, idx []I, width int) bool {
	k := table.Now()
	if k.add32 == nil || width < 4 || len(idx) == 0 {
		return false
	}
	switch d := any(dst).(type) {
	case []float32:
		addSlabs(k.add32, d, any(updates).([]float32), asInt64(idx), width)
	case []float64:
		addSlabs(k.add64, d, any(updates).([]float64), asInt64(idx), width)
	default:
		return false
	}
	return true
}

// addSlabs divides the columns among workers, so that no two add to the same element and additions
// are made in the order of the indices.
func addSlabs[T any](kernel func(dst, x *T, idx *int64, n, stride, width int), dst, x []T, idx []int64, width int) {
	columns := func(lo, hi int) {
		rows := max(1, chunk/(hi-lo))
		for i := 0; i < len(idx); i += rows {
			kernel(&dst[lo], &x[i*width+lo], &idx[i], min(rows, len(idx)-i), width, hi-lo)
		}
	}
	if len(idx)*width < chunk || width < 2*minColumns {
		columns(0, width)
		return
	}
	eachSlab(width, columns)
}
