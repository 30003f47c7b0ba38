package gemm

import (
	"fmt"
	"runtime"
	"testing"
)

// Ranges of rows and columns: all of one side where the other is long, about square
// where both are, and eight panels of 32 columns wide, or four where there are few rows.
func TestRangesOfAProduct(t *testing.T) {
	f := &family[float32]{width: 32}
	for _, c := range []struct {
		m, n, k, procs       int
		rowTasks, rows       int
		colTasks, colsInEach int
	}{
		{2048, 2048, 2048, 1, 1, 2048, 1, 2048},
		{100, 100, 100, 2, 1, 100, 1, 128},
		{256, 256, 256, 2, 4, 64, 1, 256},
		{512, 512, 512, 2, 2, 256, 2, 256},
		{1024, 1024, 1024, 2, 1, 1024, 4, 256},
		{2048, 2048, 2048, 2, 1, 2048, 4, 512},
		{2048, 2048, 2048, 16, 4, 512, 8, 256},
		{64, 1024, 1024, 2, 1, 64, 4, 256},
		{64, 1024, 1024, 16, 1, 64, 8, 128},
		{16384, 1024, 256, 2, 4, 4096, 1, 1024},
		{1024, 16384, 256, 2, 1, 1024, 4, 4096},
		{100000, 64, 64, 2, 4, 25000, 1, 64},
	} {
		t.Run(fmt.Sprint(c.m, c.n, c.k, c.procs), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(c.procs))
			j := &job[float32]{f: f, Params: Params[float32]{M: c.m, N: c.n, K: c.k}}
			j.plan()
			if j.rowTasks != c.rowTasks || j.rowsPerTask != c.rows || j.colTasks != c.colTasks || j.colsPerTask != c.colsInEach {
				t.Errorf("%d ranges of %d rows and %d of %d columns, want %d of %d and %d of %d",
					j.rowTasks, j.rowsPerTask, j.colTasks, j.colsPerTask, c.rowTasks, c.rows, c.colTasks, c.colsInEach)
			}
		})
	}
}
