package str

import (
	"fmt"
	"math"

	"github.com/tenonml/tenon/internal/par"
)

// Substr returns a part of each string, which begins at position pos and has at most the given
// length. A negative position counts from the end; a negative length means the rest of the string.
// pos and length hold one element for each string or a single one. A position outside its string is
// an error.
func Substr(x Column, pos, length []int64, u Unit) (Column, error) {
	if u == Char && inASCII(x) {
		u = Byte
	}
	if u == Byte && x.Len() > chunk {
		return substrMany(x, pos, length)
	}
	return build(x.Len(), nil, substr{&x, pos, length, u}, func(b *builder, i int, with substr) error {
		s, p, n := with.x.At(i), one64(with.pos, i), one64(with.length, i)
		size := int64(len(s))
		if with.unit == Char {
			size = int64(countChars(s))
		}
		if p > size || p < -size {
			return outside(i, p, size)
		}
		if p < 0 {
			p += size
		}
		if n < 0 || n > size-p {
			n = size - p
		}
		if with.unit == Char {
			s = s[charAt(s, p):]
			s = s[:charAt(s, n)]
		} else {
			s = s[p : p+n]
		}
		b.add(s)
		return nil
	})
}

func outside(i int, p, size int64) error {
	return &Error{Index: i, Detail: fmt.Sprintf("position %d is outside the string, of length %d", p, size)}
}

// substrMany is [Substr] for many strings, in bytes.
func substrMany(x Column, pos, length []int64) (Column, error) {
	n := x.Len()
	out := Column{Offsets: freshOffsets(n)}
	total, wrong := int64(0), int64(0)
	p, posStep := pos[0], len(pos) != 1
	most, lengthStep := noLimit(length[0]), len(length) != 1
	ends := out.Offsets[1:]
	for i := range ends {
		if posStep {
			p = pos[i]
		}
		if lengthStep {
			most = noLimit(length[i])
		}
		size := x.Offsets[i+1] - x.Offsets[i]
		from := p + size&(p>>63) // a negative p counts from the end
		wrong |= from | (size - from)
		total += min(most, size-from)
		ends[i] = total
	}
	if wrong < 0 {
		for i := range n {
			if p, size := one64(pos, i), x.Offsets[i+1]-x.Offsets[i]; p > size || p < -size {
				return Column{}, outside(i, p, size)
			}
		}
	}
	out.Bytes = freshBytes(int(total))
	par.For(n, chunk, func(lo, hi int) {
		dst := out.Bytes[:out.Offsets[hi]]
		for i := lo; i < hi; i++ {
			p := one64(pos, i)
			from, to := x.Offsets[i], out.Offsets[i]
			put(dst, to, x.Bytes, from+p+(x.Offsets[i+1]-from)&(p>>63), out.Offsets[i+1]-to)
		}
	})
	return out, nil
}

// noLimit returns length, or the largest length if it is negative.
func noLimit(length int64) int64 {
	if length < 0 {
		return math.MaxInt64
	}
	return length
}

// A substr is the arguments of a chunk of [Substr].
type substr struct {
	x           *Column
	pos, length []int64
	unit        Unit
}

// one64 returns entry i of x, or its only entry if x is broadcast.
func one64(x []int64, i int) int64 {
	if len(x) == 1 {
		return x[0]
	}
	return x[i]
}

// charAt returns the position of the byte at which character n begins, or len(s) if there is no
// such character.
func charAt(s []byte, n int64) int {
	for i, b := range s {
		if begins(b) {
			if n == 0 {
				return i
			}
			n--
		}
	}
	return len(s)
}
