package str

import (
	"encoding/binary"
	"math/bits"

	"github.com/tenonml/tenon/internal/kernel/gather"
)

// A Unit is the unit of positions and lengths.
type Unit uint8

// The units. Characters are counted by the bytes that can begin one, so stray continuation bytes do
// not count.
const (
	Byte Unit = iota
	Char      // UTF-8 character
)

// Lengths writes the length of each string to out.
func Lengths[I gather.Index](out []I, x Column, u Unit) {
	if u == Char && x.Len() > chunk && inASCII(x) {
		u = Byte
	}
	inChunks(x.Len(), measured[I]{out, x, u}, func(lo, hi int, with measured[I]) {
		for i := lo; i < hi; i++ {
			if with.unit == Byte {
				with.out[i] = I(with.x.Offsets[i+1] - with.x.Offsets[i])
			} else {
				with.out[i] = I(countChars(with.x.At(i)))
			}
		}
	})
}

// measured is the arguments of a chunk of [Lengths].
type measured[I any] struct {
	out  []I
	x    Column
	unit Unit
}

// begins reports whether a byte can begin a character.
func begins(b byte) bool { return b&0xc0 != 0x80 }

func countChars(s []byte) int {
	n := len(s)
	for ; len(s) >= 8; s = s[8:] {
		// A continuation byte has 10 as its top bits.
		w := binary.LittleEndian.Uint64(s)
		n -= bits.OnesCount64(w &^ (w << 1) & 0x8080808080808080)
	}
	for _, b := range s {
		if !begins(b) {
			n--
		}
	}
	return n
}
