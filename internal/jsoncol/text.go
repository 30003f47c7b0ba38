//go:build !purego && (amd64 || arm64 || loong64 || ppc64le || riscv64)

package jsoncol

import "unsafe"

// text is read-only input that is followed by at least slack readable bytes. Its methods read
// without bounds checks: callers stop at the sentinel that ends every chunk, so no read goes beyond
// the slack. The file text_checked.go has the same methods with checks, for other architectures and
// for tests with the purego tag, where a read out of bounds panics.
type text struct{ base unsafe.Pointer }

// newText returns a text over b, which is readable up to its capacity.
func newText(b []byte) text { return text{unsafe.Pointer(unsafe.SliceData(b))} }

// byte returns the byte at i.
func (t text) byte(i int) byte { return *(*byte)(unsafe.Add(t.base, i)) }

// word returns the 8 bytes from i on, the first one lowest.
func (t text) word(i int) uint64 { return *(*uint64)(unsafe.Add(t.base, i)) }

// slice returns the bytes from i to j.
func (t text) slice(i, j int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(t.base, i)), j-i)
}

// string returns the bytes from i to j as a string that shares them.
func (t text) string(i, j int) string {
	return unsafe.String((*byte)(unsafe.Add(t.base, i)), j-i)
}

// putWord stores x at b[i:i+8], lowest byte first. The caller must have checked the length.
func putWord(b []byte, i int, x uint64) {
	*(*uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i)) = x
}

// wordAt returns the 8 bytes of b from i on. The caller must have checked the length.
func wordAt(b []byte, i int) uint64 {
	return *(*uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i))
}
