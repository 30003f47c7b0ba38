package stream

import (
	"unsafe"

	"github.com/tenonml/tenon/internal/cpu"
)

// kernels are the non-temporal copy and the prefetch for one instruction set.
type kernels struct {
	copy  func(dst, src *byte, n int, ahead uintptr)
	fetch func(at uintptr, n int)
}

var table = cpu.NewTable(kernels{})

// Threshold is the size of a result in bytes from which non-temporal stores pay off.
const Threshold = 16 << 20

// Copy copies min(len(dst), len(src)) elements with non-temporal stores, unless they are too few. T
// must not contain pointers; dst and src must not overlap.
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

// A copy of at least fromMemory bytes is assumed to read from memory. It prefetches sourceAhead
// bytes ahead, because processors do not look far enough ahead while non-temporal stores are in
// progress.
const (
	fromMemory  = 64 << 10
	sourceAhead = 4 << 10
)

// Ahead is [Bytes] that also prefetches the n bytes at next, which the loop that fills src will
// read for the next block. Otherwise no reads would be in flight while a block is written. next is
// not dereferenced and may point outside of allocated memory.
func Ahead(dst, src unsafe.Pointer, n int, next unsafe.Pointer) { move(dst, src, n, uintptr(next)) }

func move(dst, src unsafe.Pointer, n int, next uintptr) {
	const least, most = 512, 256 << 10 // bytes per call into assembly
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

// call is an ordinary function, so that the goroutine can be preempted in its prologue.
//
//go:noinline
func call(kernel func(dst, src *byte, n int, ahead uintptr), dst, src *byte, n int, next uintptr) {
	kernel(dst, src, n, next)
}

// Fetch prefetches the n bytes at an address, which a loop will read soon, without waiting for
// them. There need not be any memory at the address. It blocks if too many prefetches are in
// flight, so loops should prefetch little at a time, between other work.
func Fetch(at uintptr, n int) {
	if fetch := table.Now().fetch; fetch != nil {
		fetch(at, n)
	}
}
