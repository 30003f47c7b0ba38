package segment

import (
	"sort"
	"unsafe"

	"github.com/tenonml/tenon/internal/par"
)

// A reducer is a vectorised reduction of rows.
type reducer[T float32 | float64] struct {
	// kernel writes one result for each row to out, batch rows at a time, and returns
	// the number of rows done. It stops before a batch with a row that is longer than
	// pieceLen or that needs care because of NaN. It reads up to reach elements behind
	// the beginning of a row, and up to batch behind its end.
	kernel       func(out, x *T, first int64, splits *int64, rows int, scratch *byte) int
	batch, reach int
}

// pieceLen is the length up to which a kernel reduces a row in one go.
const pieceLen = 4096

// scratchBytes is what a kernel wants to note down: the vectors of a batch of rows,
// aligned.
const scratchBytes = 16*64 + 63

// worthVectors is the number of values below which getting the vectors ready takes
// longer than doing without them.
const worthVectors = 64

// maxBatch is the largest batch.
const maxBatch = 16

// run reduces the rows of a partition, of inner size 1, of which x holds the elements
// from first on. plain does what the kernel leaves, one row at a time.
func (k *reducer[T]) run(ws *workspace, out, x []T, splits []int64, first int, plain func(r int)) {
	rows := len(splits) - 1
	// Rows near the end of the memory, where a whole vector cannot be read, are left.
	end := rows
	if reachable := int64(first + cap(x) - k.reach); splits[end] > reachable {
		end = sort.Search(rows, func(r int) bool { return splits[r+1] > reachable })
	}
	data := unsafe.SliceData(x)
	for r := 0; r < end; {
		if end-r >= k.batch {
			if done := k.kernel(&out[r], data, int64(first), &splits[r], end-r, &ws.vectors[0]); done > 0 {
				r += done
				continue
			}
		} else if k.few(out[r:end], data, first, splits[r:end+1], ws) {
			break
		}
		for next := min(r+k.batch, end); r < next; r++ {
			plain(r)
		}
	}
	for r := end; r < rows; r++ {
		plain(r)
	}
}

// few reduces fewer rows than a batch, as a batch that ends with empty rows. It
// reports whether it could.
func (k *reducer[T]) few(out []T, x *T, first int, splits []int64, ws *workspace) bool {
	n := copy(ws.splits[:], splits)
	for i := n; i <= k.batch; i++ {
		ws.splits[i] = splits[n-1]
	}
	result := view[T](ws.results[:])
	if k.kernel(&result[0], x, int64(first), &ws.splits[0], k.batch, &ws.vectors[0]) == 0 {
		return false
	}
	copy(out, result)
	return true
}

// reduce reduces one row of any length, in pieces of pieceLen whose results are
// combined two by two.
func (k *floatKernels[T]) reduce(r reduction, x []T) T {
	if len(x) <= pieceLen {
		return reducePlainly(r, x)
	}
	if r == reduceMean {
		return k.reduce(reduceSum, x) / T(len(x))
	}
	n := (len(x) + pieceLen - 1) / pieceLen
	results, splits := make([]T, n), make([]int64, n+1)
	for i := range splits {
		splits[i] = int64(min(i*pieceLen, len(x)))
	}
	par.For(n, chunkCost/pieceLen, func(lo, hi int) {
		ws := workspaces.Get().(*workspace)
		k.reducers[r].run(ws, results[lo:hi], x, splits[lo:hi+1], 0, func(i int) {
			results[lo+i] = reducePlainly(r, x[splits[lo+i]:splits[lo+i+1]])
		})
		workspaces.Put(ws)
	})
	return joinPairs(r, results)
}

// joinPairs combines the results of pieces two by two.
func joinPairs[T float32 | float64](r reduction, x []T) T {
	if len(x) <= 2 || r == reduceMax || r == reduceMin {
		return reducePlainly(r, x)
	}
	h := len(x) / 2
	return joinPairs(r, x[:h]) + joinPairs(r, x[h:])
}

// A reduction names what reducers compute.
type reduction uint8

const (
	reduceSum reduction = iota
	reduceMean
	reduceMax
	reduceMin
	reduceInverse // of the sum
)

// reducePlainly reduces one row without vectors.
func reducePlainly[T float32 | float64](r reduction, x []T) T {
	switch r {
	case reduceMean:
		return pairwiseSum(x) / T(len(x))
	case reduceMax:
		return maxOf(x, lowest[T]())
	case reduceMin:
		return minOf(x, highest[T]())
	}
	return pairwiseSum(x)
}

// reduceVectorised reduces rows of inner size 1 where there are kernels for it, and
// reports whether there are.
func reduceVectorised[T any](r reduction, out, values []T, splits []int64) bool {
	if len(values) < worthVectors {
		return false
	}
	switch x := any(values).(type) {
	case []float32:
		if k := kernels32[level]; k != nil {
			reduceRows(k, r, any(out).([]float32), x, splits)
			return true
		}
	case []float64:
		if k := kernels64[level]; k != nil {
			reduceRows(k, r, any(out).([]float64), x, splits)
			return true
		}
	}
	return false
}

func reduceRows[T float32 | float64](k *floatKernels[T], r reduction, out, x []T, splits []int64) {
	eachRows(splits, 1, func(lo, hi int) {
		ws := workspaces.Get().(*workspace)
		k.reducers[r].run(ws, out[lo:hi], x, splits[lo:hi+1], 0, func(i int) {
			out[lo+i] = k.reduce(r, x[splits[lo+i]:splits[lo+i+1]])
		})
		workspaces.Put(ws)
	})
}
