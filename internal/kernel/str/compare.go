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
		for i := lo; i < hi; i++ {
			with.out[i] = string(one(with.a, i)) == string(one(with.b, i))
		}
	})
}
