package str

import (
	"encoding/binary"
	"math/bits"

	"github.com/tenonml/tenon/internal/kernel/gather"
	"github.com/tenonml/tenon/internal/par"
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
	par.For(x.Len(), chunk, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if u == Byte {
				out[i] = I(x.Offsets[i+1] - x.Offsets[i])
			} else {
				out[i] = I(countChars(x.At(i)))
			}
		}
	})
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
