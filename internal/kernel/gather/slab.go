package gather

import "github.com/tenonml/tenon/internal/par"

// minColumns is the smallest number of columns worth a worker: several cache lines of float32.
const minColumns = 64

// eachSlab divides width columns among workers in groups of at least minColumns.
func eachSlab(width int, f func(lo, hi int)) {
	slabs := width / minColumns
	par.For(slabs, 1, func(lo, hi int) {
		end := hi * minColumns
		if hi == slabs {
			end = width
		}
		f(lo*minColumns, end)
	})
}
