package tensor

import (
	"sync/atomic"
	"unsafe"
)

// memo is a list of things derived from a tensor.
type memo struct {
	key   any
	value any
	next  *memo
}

// Memo returns what is stored with the tensor under a key, calling make the first
// time. Since a tensor is immutable, facts derived from its elements stay true:
// for example, that row splits are valid, or the row ids that follow from them.
// The stored value lives as long as the tensor. The type of the key should be
// private to its package.
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
