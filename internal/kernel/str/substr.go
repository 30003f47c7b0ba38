package str

import "fmt"

// Substr returns from each string the part that begins at a position, counted from
// the end where it is negative, and has at most the given length; a negative length
// means all that is left. pos and length hold one element for each string or a
// single one. A position beyond either end of its string is an error.
func Substr(x Column, pos, length []int64, u Unit) (Column, error) {
	m, err := build(x.Len(), func(b *builder, i int) error {
		s, p, n := x.At(i), pos[i%len(pos)], length[i%len(length)]
		size := int64(len(s))
		if u == Char {
			size = int64(countChars(s))
		}
		if p > size || p < -size {
			return &Error{Index: i, Detail: fmt.Sprintf("position %d is outside its length, %d", p, size)}
		}
		if p < 0 {
			p += size
		}
		if n < 0 || n > size-p {
			n = size - p
		}
		if u == Char {
			s = s[charAt(s, p):]
			s = s[:charAt(s, n)]
		} else {
			s = s[p : p+n]
		}
		b.add(s)
		return nil
	})
	return m.column, err
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
