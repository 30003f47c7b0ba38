package str

import (
	"bytes"

	"github.com/tenonml/tenon/internal/par"
)

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
	par.For(len(out), chunk, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			out[i] = int8(bytes.Compare(one(a, i), one(b, i)))
		}
	})
}

// Equal writes whether string i of a equals string i of b to each element of out.
// A column of one string stands for as many as out has elements.
func Equal(out []bool, a, b Column) {
	par.For(len(out), chunk, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			out[i] = string(one(a, i)) == string(one(b, i))
		}
	})
}
