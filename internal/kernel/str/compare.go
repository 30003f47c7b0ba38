package str

import "bytes"

// one returns string i of x, or its only string.
func one(x Column, i int) []byte {
	if x.Len() == 1 {
		return x.At(0)
	}
	return x.At(i)
}

// Compare writes -1, 0 or +1 to each element of out as string i of a is before,
// equal to or after string i of b in the order of their bytes. A column of one
// string stands for as many as out has elements.
func Compare(out []int8, a, b Column) {
	inChunks(len(out), compared[int8]{out, a, b}, func(lo, hi int, with compared[int8]) {
		for i := lo; i < hi; i++ {
			with.out[i] = int8(bytes.Compare(one(with.a, i), one(with.b, i)))
		}
	})
}

// compared is what is compared, and where the answers go.
type compared[T any] struct {
	out  []T
	a, b Column
}

// Equal writes whether string i of a equals string i of b to each element of out.
// A column of one string stands for as many as out has elements.
func Equal(out []bool, a, b Column) {
	inChunks(len(out), compared[bool]{out, a, b}, func(lo, hi int, with compared[bool]) {
		a, b := with.a, with.b
		if a.Len() == 1 {
			a, b = b, a
		}
		if b.Len() == 1 && a.Len() != 1 {
			equalOne(with.out[lo:hi], a.Offsets[lo:hi+1], a.Bytes, b.At(0))
			return
		}
		if b.Len() == 1 {
			for i := lo; i < hi; i++ {
				with.out[i] = string(one(with.a, i)) == string(one(with.b, i))
			}
			return
		}
		// Most strings that differ do so in length.
		x, y, o := with.a.Offsets[lo:hi+1], with.b.Offsets[lo:hi+1], with.out[lo:hi]
		for i := range o {
			p, q, n := x[i], y[i], x[i+1]-x[i]
			o[i] = n == y[i+1]-q && string(with.a.Bytes[p:p+n]) == string(with.b.Bytes[q:q+n])
		}
	})
}

// equalOne writes which strings equal s.
func equalOne(out []bool, offsets []int64, bytes, s []byte) {
	for i := range out {
		p, q := offsets[i], offsets[i+1]
		out[i] = int(q-p) == len(s) && string(bytes[p:q]) == string(s)
	}
}
