package gather

import "github.com/tenonml/tenon/internal/par"

// minColumns is the least number of columns worth a worker of its own: one cache
// line of float32 and more.
const minColumns = 64

// eachSlab shares width columns out in groups of minColumns and more.
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
