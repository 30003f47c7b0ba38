package segment

import "github.com/tenonml/tenon/internal/par"

// chunkCost is the work of one chunk, in elements: small enough that assembly
// between two chunks never keeps the garbage collector waiting, large enough
// that handing it out costs nothing in comparison.
const chunkCost = 32 << 10

// rowCost is what starting a row costs, in elements.
const rowCost = 4

// eachRows calls f for consecutive ranges of rows that cover the partition, on
// all processors where the work is worth it. A range holds about chunkCost elements
// and at most twice as many, or is one row. The ranges depend on the partition only.
func eachRows(splits []int64, inner int, f func(lo, hi int)) {
	chunks{splits, inner, f}.cover(0, rowsOf(splits))
}

// isShort reports whether [eachRows] would do all rows at once, in which case its caller
// does: a function that may be handed to other processors takes memory.
func isShort(splits []int64, inner int) bool {
	rows := rowsOf(splits)
	return rows > 0 && int(splits[rows])*inner+rows*rowCost <= chunkCost
}

// chunks is a loop over the rows of a partition.
type chunks struct {
	splits []int64
	inner  int
	f      func(lo, hi int)
}

// cover cuts the rows [lo, hi) into ranges of equally many rows, and those of them
// that turn out to be much longer than the average once more.
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

// eachSpan calls f for intervals that cover [0, n), each worth about chunkCost
// elements where one step costs width elements.
func eachSpan(n, width int, f func(lo, hi int)) {
	par.For(n, max(1, chunkCost/max(width, 1)), f)
}
