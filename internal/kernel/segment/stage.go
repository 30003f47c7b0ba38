package segment

import (
	"sort"
	"unsafe"

	"github.com/tenonml/tenon/internal/par"
)

// The kernels that move rows may read and write so many bytes behind the beginning of
// a row, and a vector behind its end: they do not ask whether a short row needs as
// many vectors.
const (
	readRoom  = 128
	writeRoom = 192
)

// bytesOf returns the memory of x.
func bytesOf[T any](x []T) []byte {
	size := int(unsafe.Sizeof(*new(T)))
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), cap(x)*size)
	return b[:len(x)*size]
}

// stageBytes is the size of the pieces in which results are put together: small, so
// that the processor works on the next piece while the stores of the last one travel.
const stageBytes = 4 << 10

// A mover writes rows of bytes one behind the other with a kernel that writes whole
// vectors, and so, for a moment, over the beginning of the next rows.
type mover struct {
	flow   flow
	out    []byte
	splits []int64 // of the rows in out, or nil where all have the same length
	item   int     // bytes of one unit of a split, or of a row
	// kernel writes the rows [lo, hi) to dst.
	kernel func(dst *byte, lo, hi int)
	// plain writes one row to its place in out, touching nothing else.
	plain func(r int)
}

// begin returns where row r begins in out.
func (m *mover) begin(r int) int {
	if m.splits == nil {
		return r * m.item
	}
	return int(m.splits[r]) * m.item
}

// run writes the rows [lo, hi).
func (m *mover) run(lo, hi int) {
	if lo >= hi {
		return
	}
	from, to := m.begin(lo), m.begin(hi)
	if m.flow == through {
		// What is written over the last rows' end is not ours, so these take the way
		// through a buffer.
		direct := lo + sort.Search(hi-lo, func(i int) bool { return m.begin(lo+i+1) > to-writeRoom })
		if direct > lo {
			m.kernel(&m.out[from], lo, direct)
			lo = direct
		}
	}
	if lo == hi {
		return
	}
	ws := workspaces.Get().(*workspace)
	rows := (hi-lo)*stageBytes/(to-m.begin(lo)+1) + 1 // that fill a buffer on average
	for lo < hi {
		from := m.begin(lo)
		end := min(lo+rows, hi)
		for end > lo+1 && m.begin(end)-from > blockBytes {
			end -= (end - lo) / 2
		}
		if to := m.begin(end); to-from > blockBytes {
			m.plain(lo) // a row longer than the buffer
		} else if to > from {
			m.kernel(&ws.a[0], lo, end)
			writeOut(m.flow, m.out[from:to], ws.a[:])
		}
		lo = end
	}
	m.flow.arrive()
	workspaces.Put(ws)
}

// reachable returns the end of the rows from lo on, before hi, behind which readRoom
// bytes can still be read from the memory of a slice with size bytes of capacity.
func reachable(splits []int64, lo, hi, item, size int) int {
	limit := size - readRoom
	if int(splits[hi])*item <= limit {
		return hi
	}
	return lo + sort.Search(hi-lo, func(i int) bool { return int(splits[lo+i+1])*item > limit })
}

// copyLong copies elements on all processors, a bounded piece at a time.
func copyLong[T any](out, x []T) {
	par.For(len(x), joinChunk, func(lo, hi int) { copy(out[lo:hi], x[lo:hi]) })
}
