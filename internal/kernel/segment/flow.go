package segment

import "unsafe"

// A flow says how results are written from a buffer in cache to their destination.
type flow uint8

const (
	through flow = iota // with ordinary stores
	past    flow = 1    // with non-temporal stores
)

// largeOutput is the size in bytes from which a result is unlikely to be still in cache when it is
// read: non-temporal stores then save reading its lines first, which is a third of the traffic of a
// copy. Tests lower it.
var largeOutput = 16 << 20

// flowFor returns how a result of the given size is written.
func flowFor(bytes int) flow {
	if bytes >= largeOutput && vectorsNow() != nil {
		return past
	}
	return through
}

// arrive makes preceding non-temporal stores visible to other goroutines.
func (f flow) arrive() {
	if f == past {
		vectorsNow().fence()
	}
}

// writeOut copies the first elements of buf to out.
func writeOut[T any](f flow, out, buf []T) {
	size := len(out) * int(unsafe.Sizeof(*new(T)))
	if f == through || size < 256 {
		copy(out, buf)
		return
	}
	dst := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(out))), size)
	src := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(buf))), size)
	head := int(-uintptr(unsafe.Pointer(&dst[0])) & 63)
	copy(dst[:head], src)
	lines := (size - head) / 64
	vectorsNow().stream(&dst[head], &src[head], lines)
	copy(dst[head+64*lines:], src[head+64*lines:])
}
