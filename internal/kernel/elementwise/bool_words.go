package elementwise

import (
	"encoding/binary"
	"unsafe"
)

// boolWords returns the kernel of a bitwise function of booleans: f handles as many as it can,
// eight at a time, and returns how many. A branch for each element would be mispredicted half of
// the time.
func boolWords(f func(d, a, b []byte) int, one func(x, y byte) byte) func(dst, x, y []bool) int {
	return func(dst, x, y []bool) int {
		d, a, b := boolBytes(dst), boolBytes(x[:len(dst)]), boolBytes(y[:len(dst)])
		for i := f(d, a, b); i < len(d); i++ {
			d[i] = one(a[i], b[i])
		}
		return -1
	}
}

func andWords(d, a, b []byte) (i int) {
	for ; i+16 <= len(d); i += 16 {
		o, x, y := d[i:i+16], a[i:i+16], b[i:i+16]
		put(o, word(x)&word(y))
		put(o[8:], word(x[8:])&word(y[8:]))
	}
	return i
}

func orWords(d, a, b []byte) (i int) {
	for ; i+16 <= len(d); i += 16 {
		o, x, y := d[i:i+16], a[i:i+16], b[i:i+16]
		put(o, word(x)|word(y))
		put(o[8:], word(x[8:])|word(y[8:]))
	}
	return i
}

func xorWords(d, a, b []byte) (i int) {
	for ; i+16 <= len(d); i += 16 {
		o, x, y := d[i:i+16], a[i:i+16], b[i:i+16]
		put(o, word(x)^word(y))
		put(o[8:], word(x[8:])^word(y[8:]))
	}
	return i
}

func notWords(d, a []byte) (i int) {
	const ones = 0x0101010101010101
	for ; i+16 <= len(d); i += 16 {
		o, x := d[i:i+16], a[i:i+16]
		put(o, word(x)^ones)
		put(o[8:], word(x[8:])^ones)
	}
	return i
}

func word(x []byte) uint64   { return binary.LittleEndian.Uint64(x) }
func put(d []byte, w uint64) { binary.LittleEndian.PutUint64(d, w) }

// boolBytes returns the memory of x as bytes, each 0 or 1.
func boolBytes(x []bool) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}
