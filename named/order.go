package named

import (
	"encoding/binary"
	"slices"
	"sync"
	"unsafe"
)

// An order says in which pairs several tensors are contracted.
type order struct {
	steps []pairStep
	flops float64 // multiplications and additions
}

// A pairStep contracts two of the remaining tensors over some names; the result gets the next
// number.
type pairStep struct {
	a, b int
	sum  *layout
}

// orders caches orders by the layouts and sizes of the tensors.
var orders struct {
	sync.RWMutex
	m map[string]*order
}

const maxOrders = 4096

// orderFor returns the order for tensors whose sizes agree.
func orderFor(ts []*Tensor, dims *layout) *order {
	var room [512]byte
	key := binary.NativeEndian.AppendUint64(room[:0], uint64(uintptr(unsafe.Pointer(dims))))
	for _, t := range ts {
		key = binary.NativeEndian.AppendUint64(key, uint64(uintptr(unsafe.Pointer(t.spec.names))))
		s := t.data.Shape()
		for i := range s.Rank() {
			key = binary.AppendVarint(key, int64(s.Dim(i)))
		}
	}
	orders.RLock()
	o := orders.m[string(key)]
	orders.RUnlock()
	if o != nil {
		return o
	}
	o = newOrder(ts, dims)
	orders.Lock()
	defer orders.Unlock()
	if orders.m == nil || len(orders.m) >= maxOrders {
		orders.m = map[string]*order{}
	}
	orders.m[string(key)] = o
	return o
}

// unknownSize stands for sizes that are not known.
const unknownSize = 64

func newOrder(ts []*Tensor, dims *layout) *order {
	all := none
	for _, t := range ts {
		all = all.and(t.spec.names)
	}
	s := &search{ids: all.ids, sizes: make([]float64, len(all.ids)), words: (len(all.ids) + 63) / 64}
	s.keep = s.set()
	for _, t := range ts {
		set := s.set()
		for i, n := range t.spec.names.ids {
			at := all.index(n)
			set.add(at)
			size := float64(t.data.Shape().Dim(i))
			if size < 0 {
				size = unknownSize
			}
			s.sizes[at] = max(s.sizes[at], size)
		}
		s.sets = append(s.sets, set)
	}
	for i, n := range all.ids {
		if !dims.has(n) {
			s.keep.add(i)
		}
	}
	return s.order(ts, dims, s.pairs())
}

// order converts pairs to steps over names.
func (s *search) order(ts []*Tensor, dims *layout, pairs [][2]int) *order {
	o := &order{}
	live := make([]*layout, 0, 2*len(ts))
	for _, t := range ts {
		live = append(live, t.spec.names)
	}
	for _, p := range pairs {
		a, b := live[p[0]], live[p[1]]
		live[p[0]], live[p[1]] = nil, nil
		rest := none
		for _, l := range live {
			if l != nil {
				rest = rest.and(l)
			}
		}
		union := a.and(b)
		sum := union.both(dims).without(rest)
		o.steps = append(o.steps, pairStep{p[0], p[1], sum})
		cost := flopsPer(len(sum.ids) > 0)
		for _, n := range union.ids {
			cost *= s.size(n)
		}
		o.flops += cost
		live = append(live, union.without(sum))
	}
	return o
}

// flopsPer returns the number of operations for each product of two elements, including the
// addition if it is part of a sum.
func flopsPer(summed bool) float64 {
	if summed {
		return 2
	}
	return 1
}

func (s *search) size(n id) float64 { return s.sizes[slices.Index(s.ids, n)] }
