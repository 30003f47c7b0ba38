package interp

import (
	"unsafe"

	"github.com/tenonml/tenon/internal/kernel/stream"
)

// farRowBlockBytes is rowBlockBytes where operands come from memory: the longer a block
// is, the more of the next one is on its way while it is computed.
const farRowBlockBytes = 2 * rowBlockBytes

// coming is the part of an operand that the next block reads. It is asked for in as many
// pieces as there are loops in a block, one before each: a processor has few reads under
// way at a time, and computes while they are.
type coming struct {
	at   uintptr // not a pointer, for behind the last block there may be no memory
	size int     // bytes of a piece
}

// isFar sets r.far: whether the operands that a run goes through once are together too
// large to be in the cache.
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

// once reports whether each block reads a part of its own.
func (f *form) once(r role) bool {
	return (r == elements || r == ofRows) && !f.scalar && f.period == 0
}

// expect notes what the block behind p reads, if it is as large.
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

// fetch asks for the next piece of everything.
func (w *scratch) fetch() {
	for i := range w.coming {
		c := &w.coming[i]
		stream.Fetch(c.at, c.size)
		c.at += uintptr(c.size)
	}
}
