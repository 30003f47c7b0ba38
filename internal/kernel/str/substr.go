package str

import (
	"fmt"

	"github.com/tenonml/tenon/internal/arena"
	"github.com/tenonml/tenon/internal/kernel/segment"
)

// Substr returns from each string the part that begins at a position, counted from
// the end where it is negative, and has at most the given length; a negative length
// means all that is left. pos and length hold one element for each string or a
// single one. A position beyond either end of its string is an error.
func Substr(x Column, pos, length []int64, u Unit) (Column, error) {
	if u == Char && inASCII(x) {
		u = Byte
	}
	if u == Byte && x.Len() > chunk {
		return cut(x, func(i int, size int64) (from, to int64, err error) {
			p, n := one64(pos, i), one64(length, i)
			if p > size || p < -size {
				return 0, 0, outside(i, p, size)
			}
			if p < 0 {
				p += size
			}
			if n < 0 || n > size-p {
				n = size - p
			}
			return p, p + n, nil
		})
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
	return &Error{Index: i, Detail: fmt.Sprintf("position %d is outside its length, %d", p, size)}
}

// cut returns of each string the bytes that f says, of a string with its length, in one
// piece of memory. The error is that of the first string that fails.
func cut(x Column, f func(i int, size int64) (from, to int64, err error)) (Column, error) {
	n := x.Len()
	offsets := freshOffsets(n)
	lent := arena.Alloc(8 * n)
	defer lent.Release()
	starts := arena.View[int64](lent, n)
	total := int64(0)
	for i := range n {
		begin := x.Offsets[i]
		from, to, err := f(i, x.Offsets[i+1]-begin)
		if err != nil {
			return Column{}, err
		}
		starts[i] = begin + from
		total += to - from
		offsets[i+1] = total
	}
	bytes := freshBytes(int(total))
	segment.Gather(bytes, x.Bytes, offsets, starts, 1)
	return Column{Offsets: offsets, Bytes: bytes}, nil
}

// A substr is what a part of each string is cut out by.
type substr struct {
	x           *Column
	pos, length []int64
	unit        Unit
}

// one64 returns entry i of x, or its only one.
func one64(x []int64, i int) int64 {
	if len(x) == 1 {
		return x[0]
	}
	return x[i]
}

// charAt returns the position of the byte at which character n begins, the length
// of s where there is none.
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
