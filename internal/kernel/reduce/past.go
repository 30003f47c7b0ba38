package reduce

import (
	"unsafe"

	"github.com/tenonml/tenon/internal/kernel/stream"
)

// Results of [stream.Threshold] bytes or more are written past the cache, where rows
// lie for it: what is written with ordinary stores is read first.

// writer returns the kernels that write rows of n elements to dst: those that go past
// the cache if that pays, and k otherwise.
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
