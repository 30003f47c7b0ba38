package str

import (
	"encoding/binary"
	"math/bits"

	"github.com/tenonml/tenon/internal/kernel/gather"
)

// A Unit says what positions and lengths count.
type Unit uint8

// The units. Characters are counted by the bytes that can begin one, so that
// malformed bytes above 0xBF count and others do not.
const (
	Byte Unit = iota
	Char      // of UTF-8
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

// measured is what [Lengths] measures, and where to.
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
		// A byte goes on with a character where its top bits are 10.
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
