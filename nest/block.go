package nest

import "unsafe"

// blockBytes bounds the memory that slices share.
const blockBytes = 4 << 10

// A block is memory for the slices of one type that a structure is made of: one piece for
// all of them, if it is small and the last structure needed as much.
type block struct {
	plan *plan
	data unsafe.Pointer
	left int // elements from data on
	used int // elements of all slices so far
}

// slice makes out, which is nil, a slice of n zeros.
func (b *block) slice(p *plan, n int, out unsafe.Pointer) {
	if b.plan != p {
		b.done()
		*b = block{plan: p}
	}
	s := (*slice)(out)
	if n > b.left {
		room := n
		if rest := int(p.total.Load()) - b.used; rest > n && uintptr(rest) <= blockBytes/max(p.elem.size, 1) {
			room = rest
		}
		p.value(out).Grow(room)
		b.data, b.left = s.data, room
	}
	*s = slice{data: b.data, len: n, cap: n}
	b.used += n
	if b.left -= n; b.left > 0 {
		b.data = unsafe.Add(b.data, uintptr(n)*p.elem.size)
	}
}

// done notes how much memory was needed.
func (b *block) done() {
	if b.plan != nil && b.plan.total.Load() != int64(b.used) {
		b.plan.total.Store(int64(b.used))
	}
}
