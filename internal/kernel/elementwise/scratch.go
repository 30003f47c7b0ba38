package elementwise

import (
	"sync"
	"unsafe"
)

// A block is scratch memory for operands that must be repeated or converted before a kernel can
// read them. Its 4 KiB fit into the L1 cache together with the kernel's other operands.
type block [512]uint64

var blocks = sync.Pool{New: func() any { return new(block) }}

// as returns the block as elements of type T, which must hold no pointers.
func as[T any](b *block) []T {
	var t T
	return unsafe.Slice((*T)(unsafe.Pointer(b)), unsafe.Sizeof(*b)/unsafe.Sizeof(t))
}

// splat fills dst with v. Copies of what is there already are faster than a loop.
func splat[T any](dst []T, v T) {
	n := min(len(dst), 16)
	for i := range n {
		dst[i] = v
	}
	for ; n < len(dst); n *= 2 {
		copy(dst[n:], dst[:n])
	}
}
