package tensor

import (
	"sync/atomic"
	"unsafe"
)

// memo is a list of things that were derived from a tensor.
type memo struct {
	key   any
	value any
	next  *memo
}

// Memo returns what was stored with the tensor under a key, calling make for it
// the first time. Since a tensor does not change, what is derived from its
// elements stays true: that row splits are valid, say, or the row ids that
// belong to them. The stored value lives as long as the tensor. A key should be
// of a type that is private to its package.
func (d *Dense) Memo(key any, make func() any) any {
	for {
		x := d.more()
		var head *memo
		if x != nil {
			head = x.memo.Load()
		}
		for m := head; m != nil; m = m.next {
			if m.key == key {
				return m.value
			}
		}
		m := &memo{key: key, value: make(), next: head}
		if x == nil {
			x = new(extra)
			x.memo.Store(m)
			if atomic.CompareAndSwapPointer(d.aux(), nil, unsafe.Pointer(x)) {
				return m.value
			}
		} else if x.memo.CompareAndSwap(head, m) {
			return m.value
		}
	}
}
