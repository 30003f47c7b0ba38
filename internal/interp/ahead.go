package interp

import (
	"unsafe"

	"github.com/tenonml/tenon/internal/kernel/stream"
)

// farRowBlockBytes is rowBlockBytes for operands that come from memory: the longer a block is, the
// more of the next one can be prefetched while it is computed.
const farRowBlockBytes = 2 * rowBlockBytes

// coming is the part of an operand that the next block reads. It is prefetched in pieces, one
// before each loop of a block, because a processor has only few reads in flight at a time, and can
// compute meanwhile.
type coming struct {
	at   uintptr // not a pointer, because there may be no memory after the last block
	size int     // size of a piece in bytes
}

// isFar sets r.far: whether the operands that a run reads once are in total too large for the
// cache.
func (r *run) isFar(g *group) {
	bytes := 8 * len(r.splits)
	for i := range r.forms {
		if f := &r.forms[i]; f.once(g.inputs[i].role) {
			bytes += f.n * f.size
		}
	}
	if r.far = bytes >= stream.Threshold; r.far && r.splits != nil {
		r.block = farRowBlockBytes / g.size
	}
}

// once reports whether each block reads a different part of the operand, which is consecutive.
func (f *form) once(r role) bool {
	return (r == elements || r == ofRows) && !f.scalar && f.period == 0 && f.gap == 0
}

// expect records what the block after p reads, assuming that it has the same size.
func (r *run) expect(g *group, w *scratch, p *part) {
	w.coming = w.coming[:0]
	pieces := len(g.loops) + 1
	add := func(base unsafe.Pointer, size, from, n, all int) {
		if n = min(n, all-from); n > 0 {
			w.coming = append(w.coming, coming{uintptr(base) + uintptr(from*size), (n*size/pieces + 63) &^ 63})
		}
	}
	for i := range r.forms {
		f := &r.forms[i]
		switch role := g.inputs[i].role; {
		case !f.once(role):
		case role == ofRows:
			add(f.base, f.size, p.row+p.rows, p.rows, f.n)
		default:
			add(f.base, f.size, p.value+p.values, p.values, f.n)
		}
	}
	if r.splits != nil {
		add(unsafe.Pointer(&r.splits[0]), 8, p.row+p.rows, p.rows+1, len(r.splits))
	}
}

// fetch prefetches the next piece of each operand.
func (w *scratch) fetch() {
	for i := range w.coming {
		c := &w.coming[i]
		stream.Fetch(c.at, c.size)
		c.at += uintptr(c.size)
	}
}
