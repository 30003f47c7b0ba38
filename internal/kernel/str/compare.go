package str

import "bytes"

// one returns string i of x, or its only string if x is broadcast.
func one(x Column, i int) []byte {
	if x.Len() == 1 {
		return x.At(0)
	}
	return x.At(i)
}

// Compare sets out[i] to -1, 0 or +1 if string i of a is less than, equal to or greater than string
// i of b, in byte order. A column of one string is broadcast.
func Compare(out []int8, a, b Column) {
	if len(out) <= fewCompared {
		x, y := stepping(a), stepping(b)
		for i := range out {
			out[i] = int8(order(&x, &y, i))
		}
		return
	}
	compareFronts(out, a, b, func(out []int8, u, v []uint64) {
		for k := range out {
			before, after := int8(0), int8(0) // computed without branches, which would be unpredictable
			if u[k] < v[k] {
				before = 1
			}
			if u[k] > v[k] {
				after = 1
			}
			out[k] = after - before
		}
	}, func(order int) int8 { return int8(order) })
}

// Less sets out[i] to whether string i of a is less than string i of b, in byte order. A column of
// one string is broadcast.
func Less(out []bool, a, b Column) {
	if len(out) <= fewCompared {
		x, y := stepping(a), stepping(b)
		for i := range out {
			out[i] = order(&x, &y, i) < 0
		}
		return
	}
	compareFronts(out, a, b, func(out []bool, u, v []uint64) {
		for k := range out {
			out[k] = u[k] < v[k]
		}
	}, func(order int) bool { return order < 0 })
}

// compareFronts sets out to the result of fronts for the first eight bytes of the strings or, if
// these are equal, to the result of tied for the order of the strings.
func compareFronts[T any](out []T, a, b Column, fronts func(out []T, u, v []uint64), tied func(order int) T) {
	inChunks(len(out), frontsOf[T]{out, stepping(a), stepping(b), fronts, tied}, func(lo, hi int, with frontsOf[T]) {
		var first, second [compareBlock]uint64
		for ; lo < hi; lo += compareBlock {
			n := min(compareBlock, hi-lo)
			out, u, v := with.out[lo:lo+n], first[:n], second[:n]
			with.a.fronts(u, lo)
			with.b.fronts(v, lo)
			with.fronts(out, u, v)
			for k := range out {
				if u[k] == v[k] {
					out[k] = with.tied(order(&with.a, &with.b, lo+k))
				}
			}
		}
	})
}

// fewCompared is the number of strings up to which they are compared one by one.
const fewCompared = 16

// frontsOf is the arguments of a chunk of [compareFronts].
type frontsOf[T any] struct {
	out    []T
	a, b   stepped
	fronts func(out []T, u, v []uint64)
	tied   func(order int) T
}

// compareBlock is the number of strings in a block; each step processes a whole block before the
// next step begins.
const compareBlock = 64

// A stepped column is read string by string; the step is 0 if the column is broadcast.
type stepped struct {
	Column
	step int
}

func stepping(x Column) stepped {
	if x.Len() == 1 {
		return stepped{x, 0}
	}
	return stepped{x, 1}
}

// fronts writes the first eight bytes of the strings from lo on; they usually decide a comparison.
func (s *stepped) fronts(out []uint64, lo int) {
	if s.step == 0 {
		front := firstBytes(s.Bytes, s.Offsets[0], s.Offsets[1])
		for k := range out {
			out[k] = front
		}
		return
	}
	offsets := s.Offsets[lo : lo+len(out)+1]
	for k := range out {
		out[k] = firstBytes(s.Bytes, offsets[k], offsets[k+1])
	}
}

// order compares string i of a with that of b.
func order(a, b *stepped, i int) int {
	j, k := i*a.step, i*b.step
	return bytes.Compare(a.Bytes[a.Offsets[j]:a.Offsets[j+1]], b.Bytes[b.Offsets[k]:b.Offsets[k+1]])
}

// firstBytes returns the first eight bytes of the string [lo, hi), padded with zeros, as a number
// that has the same order.
func firstBytes(bytes []byte, lo, hi int64) uint64 {
	return wordAt(bytes, lo, hi) & (^uint64(0) << (64 - 8*uint64(min(hi-lo, 8))))
}

// Equal sets out[i] to whether string i of a equals string i of b. A column of one string is
// broadcast.
func Equal(out []bool, a, b Column) {
	x, y := stepping(a), stepping(b)
	if x.step == 0 {
		x, y = y, x
	}
	inChunks(len(out), compared{out, x, y}, func(lo, hi int, with compared) {
		a, b := with.a, with.b
		var at [compareBlock]int32 // strings with equal lengths: most different strings differ in length
		for ; lo < hi; lo += compareBlock {
			n := min(compareBlock, hi-lo)
			out := with.out[lo : lo+n]
			clear(out)
			for _, k := range at[:sameLength(&at, n, a, b, lo)] {
				i := lo + int(k)
				out[k] = equalAt(a.Column, a.Offsets[i*a.step], a.Offsets[i*a.step+1], b.Column, b.Offsets[i*b.step])
			}
		}
	})
}

// compared is the arguments of a chunk of [Equal].
type compared struct {
	out  []bool
	a, b stepped
}

// sameLength lists which of the n strings from lo on have the same length in a and b.
func sameLength(at *[compareBlock]int32, n int, a, b stepped, lo int) (found int) {
	if a.step == 0 {
		if a.Offsets[1]-a.Offsets[0] == b.Offsets[1]-b.Offsets[0] {
			for k := range n {
				at[k] = int32(k)
			}
			return n
		}
		return 0
	}
	x := a.Offsets[lo : lo+n+1]
	if b.step == 0 {
		size := b.Offsets[1] - b.Offsets[0]
		for k := range n {
			at[found&(compareBlock-1)] = int32(k)
			if x[k+1]-x[k] == size {
				found++
			}
		}
		return found
	}
	y := b.Offsets[lo : lo+n+1]
	for k := range n {
		at[found&(compareBlock-1)] = int32(k)
		if x[k+1]-x[k] == y[k+1]-y[k] {
			found++
		}
	}
	return found
}

// equalAt reports whether the string a.Bytes[p:end] equals the bytes of b from q on.
func equalAt(a Column, p, end int64, b Column, q int64) bool {
	n := end - p
	if n <= 16 && p+16 <= int64(len(a.Bytes)) && q+16 <= int64(len(b.Bytes)) {
		u, v := halves(a.Bytes[p:p+16], uint64(n))
		w, x := halves(b.Bytes[q:q+16], uint64(n))
		return (u^w)|(v^x) == 0
	}
	return bytes.Equal(a.Bytes[p:end], b.Bytes[q:q+n])
}
