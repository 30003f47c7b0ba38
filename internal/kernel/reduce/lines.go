package reduce

import (
	"github.com/tenonml/tenon/internal/kernel/elementwise"
	"github.com/tenonml/tenon/internal/par"
)

// Lines applies a function of rows along the middle dimension of operands of shape [outer, n,
// inner], float32 or float64: each line along n is copied to a row, row is called with the rows of
// dst and of the operands, and the row of dst is copied back. Lines are divided among workers, so
// row must be safe for concurrent use.
func Lines[T float](dst []T, operands [][]T, outer, n, inner int, row func(dst []T, operands [][]T)) {
	if outer*n*inner == 0 {
		return
	}
	const group = 16 // adjacent lines share cache lines group
	chunks := (inner + group - 1) / group
	par.For(outer*chunks, max(1, serialBelow/(n*min(inner, group))), func(lo, hi int) {
		buf := make([]T, (len(operands)+1)*n*group)
		rows := make([][]T, len(operands))
		for t := lo; t < hi; t++ {
			first := t % chunks * group
			width := min(group, inner-first)
			base := t/chunks*n*inner + first
			for k, x := range operands {
				to := buf[(k+1)*n*group:]
				for i := range n {
					for j, v := range x[base+i*inner:][:width] {
						to[j*n+i] = v
					}
				}
			}
			for j := range width {
				for k := range rows {
					rows[k] = buf[(k+1)*n*group+j*n:][:n]
				}
				row(buf[j*n:][:n], rows)
			}
			for i := range n {
				to := dst[base+i*inner:][:width]
				for j := range to {
					to[j] = buf[j*n+i]
				}
			}
		}
	})
}

// Halves lets a function of float32 rows work on rows of half-precision
// numbers: a batch of rows is widened, row is called, and its result narrowed.
func Halves[H half](dst []H, operands [][]H, n int, row func(dst []float32, operands [][]float32)) {
	eachRow(len(dst), n, func(i int) {
		buf := make([]float32, (len(operands)+1)*n)
		rows := make([][]float32, len(operands))
		for k, x := range operands {
			rows[k] = buf[(k+1)*n:][:n]
			elementwise.Cast(rows[k], x[i:i+n])
		}
		row(buf[:n], rows)
		elementwise.Cast(dst[i:i+n], buf[:n])
	})
}
