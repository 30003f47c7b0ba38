package elementwise

import (
	"encoding/binary"
	"unsafe"
)

// boolWords returns the kernel of a bitwise function of truth values, eight at a time:
// a branch for each would be guessed wrong half of the time.
func boolWords(f func(x, y uint64) uint64) func(dst, x, y []bool) int {
	return func(dst, x, y []bool) int {
		d, a, b := boolBytes(dst), boolBytes(x[:len(dst)]), boolBytes(y[:len(dst)])
		i := 0
		for ; i+8 <= len(d); i += 8 {
			binary.LittleEndian.PutUint64(d[i:], f(binary.LittleEndian.Uint64(a[i:]), binary.LittleEndian.Uint64(b[i:])))
		}
		for ; i < len(d); i++ {
			d[i] = byte(f(uint64(a[i]), uint64(b[i])))
		}
		return -1
	}
}

// boolBytes returns truth values as the bytes that they are, 0 or 1.
func boolBytes(x []bool) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}
