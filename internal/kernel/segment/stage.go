package segment

import (
	"sort"
	"unsafe"

	"github.com/tenonml/tenon/internal/par"
)

// Kernels may read and write so many bytes behind the beginning of a row, and a vector
// behind its end: they do not ask whether a short row needs as many vectors.
const (
	readRoom  = 128
	writeRoom = 256
)

// bytesOf returns the memory of x.
func bytesOf[T any](x []T) []byte {
	size := int(unsafe.Sizeof(*new(T)))
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), cap(x)*size)
	return b[:len(x)*size]
}

// A mover writes rows of bytes one behind the other with kernels that write whole
// vectors, and so, for a moment, over the beginning of the next rows.
type mover struct {
	out    []byte
	splits []int64 // of the rows in out, or nil where all have the same length
	item   int     // bytes of one unit of a split, or of a row
	// kernel writes the rows [lo, hi) to dst. past does so past the cache, through
	// stage: what shares a line with the bytes before dst stays in the first line of
	// stage, what fills no line at the end in the second, and it returns the length
	// of the latter.
	kernel func(dst *byte, lo, hi int)
	past   func(dst *byte, lo, hi int, stage *byte) int
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

// longRow is the number of bytes from which a row is not left to a kernel, which no
// other goroutine can interrupt.
const longRow = 256 << 10

// run writes the rows [lo, hi), past the cache where the whole result is large.
func (m *mover) run(lo, hi int) {
	switch {
	case lo >= hi:
	case hi-lo == 1 && m.begin(hi)-m.begin(lo) > longRow:
		m.plain(lo)
	case len(m.out) >= largeOutput:
		m.runPast(lo, hi)
	default:
		m.runThrough(lo, hi)
	}
}

func (m *mover) runThrough(lo, hi int) {
	if lo >= hi {
		return
	}
	// What is written over the last rows' end is not ours, so these take the way
	// through a buffer.
	room := m.begin(hi) - writeRoom
	direct := lo + sort.Search(hi-lo, func(i int) bool { return m.begin(lo+i+1) > room })
	if direct > lo {
		m.kernel(&m.out[m.begin(lo)], lo, direct)
	}
	for lo = direct; lo < hi; lo++ {
		from, to := m.begin(lo), m.begin(hi)
		if to == from {
			return
		}
		if to-from <= blockBytes {
			ws := workspaces.Get().(*workspace)
			m.kernel(&ws.a[0], lo, hi)
			copy(m.out[from:to], ws.a[:])
			workspaces.Put(ws)
			return
		}
		m.plain(lo)
	}
}

func (m *mover) runPast(lo, hi int) {
	out := m.out[m.begin(lo):m.begin(hi)]
	if len(out) == 0 {
		return
	}
	ws := workspaces.Get().(*workspace)
	finishPast(out, ws.a[:], func(dst, stage *byte) int { return m.past(dst, lo, hi, stage) })
	vectorsNow().fence()
	workspaces.Put(ws)
}

// finishPast calls a kernel that writes all of out, which is not empty, past the cache
// through buf, and copies what the kernel leaves there.
func finishPast(out, buf []byte, kernel func(dst, stage *byte) int) {
	const line = 64
	stage := alignedLines(buf)
	rest := kernel(&out[0], &stage[0])
	phase := int(uintptr(unsafe.Pointer(&out[0])) % line)
	if phase+len(out) < line {
		copy(out, stage[line+phase:])
		return
	}
	if phase > 0 {
		copy(out[:line-phase], stage[phase:])
	}
	copy(out[len(out)-rest:], stage[line:])
}

// alignedLines returns b from its first multiple of 64 bytes on.
func alignedLines(b []byte) []byte {
	return b[-uintptr(unsafe.Pointer(unsafe.SliceData(b)))%64:]
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
	par.For(len(x), joinPiece[T](len(x)), func(lo, hi int) { copy(out[lo:hi], x[lo:hi]) })
}
