package segment

import (
	"sort"
	"unsafe"

	"github.com/tenonml/tenon/internal/par"
)

// vectorRoom is the number of bytes that the kernels that move rows may read and
// write behind what they were asked to: the vectors that a short row is padded in.
const vectorRoom = 128

// bytesOf returns the memory of x.
func bytesOf[T any](x []T) []byte {
	size := int(unsafe.Sizeof(*new(T)))
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), cap(x)*size)
	return b[:len(x)*size]
}

// A mover writes rows of bytes one behind the other with a kernel that writes whole
// vectors, and so, for a moment, over the beginning of the next rows.
type mover struct {
	flow flow
	out  []byte
	end  func(r int) int // where row r ends in out, the beginning of row r+1
	// kernel writes the rows [lo, hi) to dst.
	kernel func(dst *byte, lo, hi int)
	// plain writes one row to its place in out, touching nothing else.
	plain func(r int)
}

// run writes the rows [lo, hi), of which the first begins at byte from.
func (m mover) run(from, lo, hi int) {
	if m.flow == through {
		// What is written over the last rows' end is not ours, so these take the way
		// through a buffer.
		last := m.end(hi-1) - vectorRoom
		direct := lo + sort.Search(hi-lo, func(i int) bool { return m.end(lo+i) > last })
		if direct > lo {
			m.kernel(&m.out[from], lo, direct)
			from, lo = m.end(direct-1), direct
		}
	}
	ws := workspaces.Get().(*workspace)
	defer workspaces.Put(ws)
	for lo < hi {
		end := lo + sort.Search(min(hi-lo, blockRows), func(i int) bool { return m.end(lo+i)-from > blockBytes })
		if end == lo { // a row longer than the buffer
			m.plain(lo)
			from, lo = m.end(lo), lo+1
			continue
		}
		to := m.end(end - 1)
		if to > from {
			m.kernel(&ws.a[0], lo, end)
			writeOut(m.flow, m.out[from:to], ws.a[:])
		}
		from, lo = to, end
	}
}

// reachable returns the end of the rows from lo on, before hi, behind which vectorRoom
// bytes can still be read from the memory of a slice with size bytes of capacity.
func reachable(splits []int64, lo, hi, item, size int) int {
	limit := size - vectorRoom
	if int(splits[hi])*item <= limit {
		return hi
	}
	return lo + sort.Search(hi-lo, func(i int) bool { return int(splits[lo+i+1])*item > limit })
}

// copyLong copies elements on all processors, a bounded piece at a time.
func copyLong[T any](out, x []T) {
	par.For(len(x), joinChunk, func(lo, hi int) { copy(out[lo:hi], x[lo:hi]) })
}
