package segment

import (
	"sort"

	"github.com/tenonml/tenon/internal/par"
)

// chunkCost is the work of one chunk, in elements: small enough that assembly
// between two chunks never keeps the garbage collector waiting, large enough
// that handing it out costs nothing in comparison.
const chunkCost = 32 << 10

// rowCost is what starting a row costs, in elements.
const rowCost = 4

// eachRows calls f for consecutive ranges of rows that cover the partition, on
// all processors where the work is worth it. A range holds about chunkCost
// elements, or one row that is longer than that.
func eachRows(splits []int64, inner int, f func(lo, hi int)) {
	rows := rowsOf(splits)
	if rows == 0 {
		return
	}
	cost := func(r int) int { return int(splits[r]-splits[0])*inner + r*rowCost }
	total := cost(rows)
	if total <= chunkCost {
		f(0, rows)
		return
	}
	first := func(c int) int { // the first row that starts in chunk c or later
		return sort.Search(rows, func(r int) bool { return cost(r) >= c*chunkCost })
	}
	par.For((total-1)/chunkCost+1, 1, func(c, end int) {
		lo := first(c)
		for ; c < end; c++ {
			hi := first(c + 1)
			if lo < hi {
				f(lo, hi)
			}
			lo = hi
		}
	})
}

// eachSpan calls f for intervals that cover [0, n), each worth about chunkCost
// elements where one step costs width elements.
func eachSpan(n, width int, f func(lo, hi int)) {
	par.For(n, max(1, chunkCost/max(width, 1)), f)
}
