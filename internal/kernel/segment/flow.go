package segment

import "unsafe"

// A flow is how results travel from a buffer in cache to their place.
type flow uint8

const (
	through flow = iota // by ordinary stores
	past    flow = 1    // by stores that leave the cache alone
)

// largeOutput is the size from which a result is not expected to be in cache when it
// is read: writing it by non-temporal stores saves reading its lines first, which is
// a third of a copy's traffic. Tests lower it.
var largeOutput = 16 << 20

// flowFor returns how a result of so many bytes is written.
func flowFor(bytes int) flow {
	if bytes >= largeOutput && vectorsNow() != nil {
		return past
	}
	return through
}

// arrive waits until what has been written past the cache is there for others to see.
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
