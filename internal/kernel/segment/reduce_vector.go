package segment

import (
	"sort"
	"unsafe"

	"github.com/tenonml/tenon/internal/par"
)

// lanes are the element types of the vector kernels.
type lanes interface {
	float32 | float64 | int32 | int64
}

// rowKernels are the vector kernels for rows of T. Any of them may be missing.
type rowKernels[T lanes] struct {
	reducers        [reductions]reducer[T, T]
	args            [2]reducer[int64, T] // argmin and argmax
	nonzero         reducer[int64, T]
	mean, distances reducer[float64, T] // mean is for integers only; distances is Σ(x-mean)²
	folds           [4]folder[T, T]
	longSum         folder[float64, T] // for float32
}

// byteKernels are the kernels for bytes, where 0 is false and anything else is true.
type byteKernels struct {
	nonzero          reducer[int64, byte]
	any, all         reducer[byte, byte]
	anyDown, allDown folder[byte, byte]
}

// A reducer is a vectorised reduction of each row of T to one O.
type reducer[O, T any] struct {
	// kernel writes one result for each row to out, batch rows at a time, and returns the number of
	// rows done. It stops before a batch that contains a row longer than pieceLen or one that needs
	// special treatment because of NaN. It reads up to reach elements from the beginning of a row,
	// and up to batch elements past its end.
	kernel       func(out *O, x *T, first int64, splits *int64, rows int, scratch *byte) int
	batch, reach int
}

// pieceLen is the length up to which a kernel reduces a row in one pass.
const pieceLen = 4096

// scratchBytes is the size of a kernel's scratch memory: one vector for each row of a batch and one
// for their results, aligned.
const scratchBytes = (16+1)*64 + 63

// worthVectors is the number of values below which setting up a vector kernel costs more than it
// saves.
const worthVectors = 64

// maxBatch is the largest batch.
const maxBatch = 16

// kernelsFor returns the kernels for T at the current CPU level, or nil.
func kernelsFor[T lanes]() (k *rowKernels[T]) {
	switch p := any(&k).(type) {
	case **rowKernels[float32]:
		if f := table.Now().f32; f != nil {
			*p = &f.rowKernels
		}
	case **rowKernels[float64]:
		if f := table.Now().f64; f != nil {
			*p = &f.rowKernels
		}
	case **rowKernels[int32]:
		*p = table.Now().i32
	case **rowKernels[int64]:
		*p = table.Now().i64
	}
	return k
}

// over reduces all rows of a partition of x, of inner size 1, on all processors. plain reduces a
// single row that the kernel skips.
func (k *reducer[O, T]) over(out []O, x []T, splits []int64, plain func(r int)) {
	if isShort(splits, 1) {
		k.some(out, x, splits, 0, rowsOf(splits), plain)
		return
	}
	eachRows(splits, 1, func(lo, hi int) { k.some(out, x, splits, lo, hi, plain) })
}

// some reduces the rows [lo, hi).
func (k *reducer[O, T]) some(out []O, x []T, splits []int64, lo, hi int, plain func(r int)) {
	ws := workspaces.Get().(*workspace)
	k.run(ws, out[lo:hi], x, splits[lo:hi+1], 0, func(i int) { plain(lo + i) })
	workspaces.Put(ws)
}

// run reduces the rows of a partition of inner size 1, where x holds the elements from first on.
// plain reduces a single row that the kernel skips.
func (k *reducer[O, T]) run(ws *workspace, out []O, x []T, splits []int64, first int, plain func(r int)) {
	rows := len(splits) - 1
	// Rows so close to the end of the memory of x that a whole vector cannot be read are left to
	// plain.
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

// few reduces fewer rows than a batch by appending empty rows. It reports whether the kernel could
// do it.
func (k *reducer[O, T]) few(out []O, x *T, first int, splits []int64, ws *workspace) bool {
	n := copy(ws.splits[:], splits)
	for i := n; i <= k.batch; i++ {
		ws.splits[i] = splits[n-1]
	}
	result := view[O](ws.results[:])
	if k.kernel(&result[0], x, int64(first), &ws.splits[0], k.batch, &ws.vectors[0]) == 0 {
		return false
	}
	copy(out, result)
	return true
}

// pieces reduces a row of any length in pieces of pieceLen.
func (k *reducer[O, T]) pieces(x []T, plain func(x []T) O) []O {
	n := (len(x) + pieceLen - 1) / pieceLen
	results, splits := make([]O, n), make([]int64, n+1)
	for i := range splits {
		splits[i] = int64(min(i*pieceLen, len(x)))
	}
	par.For(n, chunkCost/pieceLen, func(lo, hi int) {
		k.some(results, x, splits, lo, hi, func(i int) { results[i] = plain(x[splits[i]:splits[i+1]]) })
	})
	return results
}

// A reduction names a function that reducers compute.
type reduction uint8

const (
	reduceSum reduction = iota
	reduceMean
	reduceMax
	reduceMin
	reduceProd
	reduceInverse // the reciprocal of the sum
	reductions    // their number
)

// reduce reduces one row of any length. Long rows are reduced in pieces whose results are combined
// pairwise.
func (k *rowKernels[T]) reduce(r reduction, x []T) T {
	if len(x) <= pieceLen {
		return reducePlainly(r, x)
	}
	if r == reduceMean {
		return k.reduce(reduceSum, x) / T(len(x))
	}
	return joinPairs(r, k.reducers[r].pieces(x, func(x []T) T { return reducePlainly(r, x) }))
}

// joinPairs combines the results of pieces pairwise.
func joinPairs[T lanes](r reduction, x []T) T {
	if len(x) <= 2 || r == reduceMax || r == reduceMin {
		return reducePlainly(r, x)
	}
	h := len(x) / 2
	return reducePlainly(r, []T{joinPairs(r, x[:h]), joinPairs(r, x[h:])})
}

// reducePlainly reduces one row without vectors.
func reducePlainly[T lanes](r reduction, x []T) T {
	switch r {
	case reduceMean:
		return pairwiseSum(x) / T(len(x))
	case reduceMax:
		return maxOf(x, lowest[T]())
	case reduceMin:
		return minOf(x, highest[T]())
	case reduceProd:
		return productOf(x)
	}
	return pairwiseSum(x)
}

// reduceVectorised reduces rows of inner size 1 if there are kernels for the element type, and
// reports whether there are.
func reduceVectorised[T any](r reduction, out, values []T, splits []int64) bool {
	if len(values) < worthVectors {
		return false
	}
	switch x := any(values).(type) {
	case []float32:
		return reduceRows(r, any(out).([]float32), x, splits)
	case []float64:
		return reduceRows(r, any(out).([]float64), x, splits)
	case []int32:
		return reduceRows(r, any(out).([]int32), x, splits)
	case []int64:
		return reduceRows(r, any(out).([]int64), x, splits)
	}
	return false
}

func reduceRows[T lanes](r reduction, out, x []T, splits []int64) bool {
	k := kernelsFor[T]()
	if k == nil || k.reducers[r].kernel == nil {
		return false
	}
	k.reducers[r].over(out, x, splits, func(i int) { out[i] = k.reduce(r, x[splits[i]:splits[i+1]]) })
	return true
}
