package stream

import (
	"unsafe"

	"github.com/tenonml/tenon/internal/cpu"
)

// kernels are the copy past the cache and the prefetch of one family.
type kernels struct {
	copy  func(dst, src *byte, n int, ahead uintptr)
	fetch func(at uintptr, n int)
}

var table = cpu.NewTable(kernels{})

// Threshold is the number of bytes of a result from which going past the cache pays.
const Threshold = 16 << 20

// Copy copies min(len(dst), len(src)) elements, past the cache where they are
// many enough for the attempt. T holds no pointers; dst and src do not overlap.
func Copy[T any](dst, src []T) {
	var t T
	n := min(len(dst), len(src)) * int(unsafe.Sizeof(t))
	Bytes(unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src)), n)
}

// Bytes is [Copy] for n bytes at dst and src.
func Bytes(dst, src unsafe.Pointer, n int) {
	next := uintptr(src)
	if n >= fromMemory {
		next += sourceAhead
	}
	move(dst, src, n, next)
}

// A copy of so many bytes is taken to come from memory. Then it asks for what it reads so
// many bytes ahead: while lines travel past the cache, the processor does not look far
// enough ahead by itself.
const (
	fromMemory  = 64 << 10
	sourceAhead = 4 << 10
)

// Ahead is [Bytes] and asks the processor for the n bytes at next on the way: what
// the loop that fills src will read for the next block. While a block is written,
// nothing would be read otherwise. next is not dereferenced and may lie outside of
// memory that is there.
func Ahead(dst, src unsafe.Pointer, n int, next unsafe.Pointer) { move(dst, src, n, uintptr(next)) }

func move(dst, src unsafe.Pointer, n int, next uintptr) {
	const least, most = 512, 256 << 10 // of one call into assembly
	to, from := unsafe.Slice((*byte)(dst), n), unsafe.Slice((*byte)(src), n)
	kernel := table.Now().copy
	if kernel == nil || n < least {
		copy(to, from)
		return
	}
	head := int(-uintptr(dst) % 64)
	copy(to[:head], from)
	for to, from = to[head:], from[head:]; len(to) >= 256; {
		part := min(len(to), most) &^ 255
		call(kernel, &to[0], &from[0], part, next)
		to, from = to[part:], from[part:]
		next += uintptr(part)
	}
	copy(to, from)
}

// call is an ordinary function, in whose prologue a goroutine can be stopped.
//
//go:noinline
func call(kernel func(dst, src *byte, n int, ahead uintptr), dst, src *byte, n int, next uintptr) {
	kernel(dst, src, n, next)
}

// Fetch asks the processor for the n bytes at an address, which a loop will read soon,
// and does not wait for them. Nothing needs to be there. It waits where too many are on
// their way, so loops ask for little at a time, between other work.
func Fetch(at uintptr, n int) {
	if fetch := table.Now().fetch; fetch != nil {
		fetch(at, n)
	}
}
