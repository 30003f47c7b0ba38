package elementwise

import (
	"sync"
	"unsafe"
)

// A block is scratch memory for operands that have to be repeated or
// converted before a kernel can read them: 4 KiB stays in the L1 cache beside
// the kernel's own operands.
type block [512]uint64

var blocks = sync.Pool{New: func() any { return new(block) }}

// as returns the block as elements of type T, which must hold no pointers.
func as[T any](b *block) []T {
	var t T
	return unsafe.Slice((*T)(unsafe.Pointer(b)), unsafe.Sizeof(*b)/unsafe.Sizeof(t))
}

// splat fills dst with v.
func splat[T any](dst []T, v T) {
	for i := range dst {
		dst[i] = v
	}
}
