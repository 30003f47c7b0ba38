package nest

import "unsafe"

// blockBytes bounds the memory that slices share.
const blockBytes = 4 << 10

// A block is memory for a structure's slices of one type. All of them share one allocation if it is
// small and the previous structure needed as much.
type block struct {
	plan *plan
	data unsafe.Pointer
	left int // number of elements from data on
	used int // number of elements of all slices so far
}

// slice sets out, which is nil, to a slice of n zeros.
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

// done records how much memory was needed.
func (b *block) done() {
	if b.plan != nil && b.plan.total.Load() != int64(b.used) {
		b.plan.total.Store(int64(b.used))
	}
}
