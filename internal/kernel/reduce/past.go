package reduce

import (
	"unsafe"

	"github.com/tenonml/tenon/internal/kernel/stream"
)

// Results of [stream.Threshold] bytes or more are written with non-temporal stores if their rows
// are aligned for it, because an ordinary store reads the cache line first.

// writer returns the kernels that write rows of n elements to dst: those with non-temporal stores
// if they pay off, and k otherwise.
func writer[T float](k *kernels[T], dst, x []T, n int) *kernels[T] {
	if k == nil || k.past == nil || len(dst) == 0 || &dst[0] == &x[0] {
		return k
	}
	size := int(unsafe.Sizeof(dst[0]))
	if len(dst)*size < stream.Threshold || n*size%64 != 0 || uintptr(unsafe.Pointer(&dst[0]))%64 != 0 {
		return k
	}
	return k.past
}
