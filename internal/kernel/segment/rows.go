package segment

import "github.com/tenonml/tenon/internal/par"

// chunkCost is the amount of work in one chunk, in elements: small enough that assembly never
// delays the garbage collector for long, and large enough to make the cost of distributing it
// negligible.
const chunkCost = 32 << 10

// rowCost is the cost of starting a row, in elements.
const rowCost = 4

// eachRows calls f for consecutive ranges of rows that cover the partition, on all processors if
// there is enough work. A range holds about chunkCost elements and at most twice as many, or is a
// single row. The ranges depend only on the partition.
func eachRows(splits []int64, inner int, f func(lo, hi int)) {
	chunks{splits, inner, f}.cover(0, rowsOf(splits))
}

// isShort reports whether [eachRows] would make a single call. Its caller then does the work
// directly, because a function value that may be passed to other goroutines is allocated on the
// heap.
func isShort(splits []int64, inner int) bool {
	rows := rowsOf(splits)
	return rows > 0 && int(splits[rows])*inner+rows*rowCost <= chunkCost
}

// chunks is a parallel loop over the rows of a partition.
type chunks struct {
	splits []int64
	inner  int
	f      func(lo, hi int)
}

// cover divides the rows [lo, hi) into ranges of equal numbers of rows, and divides those again
// that have many more elements than average.
func (c chunks) cover(lo, hi int) {
	rows := hi - lo
	if rows == 0 {
		return
	}
	cost := int(c.splits[hi]-c.splits[lo])*c.inner + rows*rowCost
	if rows == 1 || cost <= chunkCost {
		c.f(lo, hi)
		return
	}
	pieces := min((cost-1)/chunkCost+1, rows)
	par.For(rows, (rows-1)/pieces+1, func(from, to int) {
		from, to = lo+from, lo+to
		if to-from > 1 && int(c.splits[to]-c.splits[from])*c.inner+(to-from)*rowCost > 2*chunkCost {
			c.cover(from, to)
		} else {
			c.f(from, to)
		}
	})
}

// eachSpan calls f for intervals that cover [0, n). Each has about chunkCost elements, where one
// step has width elements.
func eachSpan(n, width int, f func(lo, hi int)) {
	par.For(n, max(1, chunkCost/max(width, 1)), f)
}
