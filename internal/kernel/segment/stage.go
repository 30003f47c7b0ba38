package segment

import (
	"sort"
	"unsafe"

	"github.com/tenonml/tenon/internal/par"
)

// Kernels do not check whether a short row needs all vectors, so they may read or write this many
// bytes from the beginning of a row, and up to a vector past its end.
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

// A mover writes rows of bytes one after the other with kernels that write whole vectors and so
// temporarily overwrite the beginning of the next rows.
type mover struct {
	out    []byte
	splits []int64 // of the rows in out, or nil where all have the same length
	item   int     // bytes of one unit of a split, or of a row
	// kernel writes the rows [lo, hi) to dst. past does the same with non-temporal stores, through
	// stage: the bytes that share a line with those before dst remain in the first line of stage,
	// those of an incomplete last line in the second, and past returns the number of the latter.
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

// longRow is the size in bytes from which a single row is not left to a kernel, because kernels
// cannot be preempted.
const longRow = 256 << 10

// run writes the rows [lo, hi), with non-temporal stores if the whole result is large.
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
	// Memory after the last row belongs to others and must not be overwritten, so the last rows are
	// written through a buffer.
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

// finishPast calls a kernel that writes all of out, which is not empty, with non-temporal stores
// through buf, and copies what the kernel leaves in buf.
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

// alignedLines returns the part of b that starts at its first multiple of 64 bytes.
func alignedLines(b []byte) []byte {
	return b[-uintptr(unsafe.Pointer(unsafe.SliceData(b)))%64:]
}

// reachable returns the end of the rows in [lo, hi) after which readRoom bytes can still be read
// from memory of size bytes.
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
