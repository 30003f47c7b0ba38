package segment

import (
	"sync"
	"unsafe"
)

// blockBytes is the size of the pieces that multi-pass kernels work on, so that all of their
// buffers together fit into the first-level cache.
const blockBytes = 8 << 10

// blockRows is the largest number of rows in such a piece; empty rows would otherwise leave it
// unbounded.
const blockRows = 512

// A workspace is the memory that one worker needs for a piece: three buffers of elements, with room
// for whole vectors after them, two of one element for each row, and the scratch memory of reducers
// and rowwise operations.
type workspace struct {
	a, b, c    [blockBytes + writeRoom + 64]byte
	row1, row2 [blockRows*8 + 256]byte
	vectors    [scratchBytes]byte
	splits     [maxBatch + 1]int64
	results    [maxBatch * 8]byte
	marks      [blockBytes/4 + 128]byte
	own        [blockRows*8 + 128]byte
}

var workspaces = sync.Pool{New: func() any { return new(workspace) }}

// view returns a buffer as a slice of T.
func view[T any](b []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(*new(T))))
}

// viewAs returns the memory of x as elements of another type of the same size.
func viewAs[O, T any](x []T) []O {
	return unsafe.Slice((*O)(unsafe.Pointer(unsafe.SliceData(x))), cap(x))[:len(x)]
}

// blockEnd returns the end of the piece that begins with row lo: average rows, fewer if these have
// too many elements, but at least one.
func blockEnd(splits []int64, lo, hi, elements, average int) int {
	end := min(lo+average, hi)
	for end > lo+1 && int(splits[end]-splits[lo]) > elements {
		end -= (end - lo) / 2
	}
	return end
}

// averageRows returns the number of rows that fill a piece on average.
func averageRows(splits []int64, lo, hi, elements int) int {
	return min((hi-lo)*elements*7/8/int(splits[hi]-splits[lo]+1)+1, blockRows)
}

// window returns the elements x[lo:hi] with room for whole vectors after them, copied to spare if x
// ends too soon.
func window[T any](x []T, lo, hi int, spare []T) []T {
	if cap(x)-hi >= writeRoom/int(unsafe.Sizeof(*new(T))) {
		return x[lo:hi]
	}
	return spare[:copy(spare, x[lo:hi])]
}
