package named

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"sync"
	"unsafe"
)

// An order says in which pairs several tensors are contracted.
type order struct {
	steps []pairStep
	flops float64 // multiplications and additions
}

// A pairStep contracts two of the tensors that are left over some names; the result
// gets the next number.
type pairStep struct {
	a, b int
	sum  *layout
}

// orders are kept by the layouts and sizes of the tensors.
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

// A search is the tensors of a contraction as sets of names: bit i is name i.
type search struct {
	ids   []id
	sizes []float64
	sets  []uint64
	keep  uint64 // names that the result has
}

// maxSearched is the number of tensors up to which all orders are compared.
const maxSearched = 10

func newOrder(ts []*Tensor, dims *layout) *order {
	s := &search{}
	all := none
	for _, t := range ts {
		all = all.and(t.spec.names)
	}
	s.ids = all.ids
	s.sizes = make([]float64, len(all.ids))
	for _, t := range ts {
		var set uint64
		for i, n := range t.spec.names.ids {
			at := all.index(n)
			set |= 1 << (at % 64)
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
			s.keep |= 1 << (i % 64)
		}
	}
	if len(ts) <= maxSearched && len(all.ids) <= 64 {
		return s.order(ts, dims, s.best())
	}
	ls := make([]*layout, len(ts))
	for i, t := range ts {
		ls[i] = t.spec.names
	}
	return s.order(ts, dims, greedyPairs(ls, dims, s.size))
}

// order turns pairs into steps over names.
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

// flopsPer returns the operations that each product of two elements takes: with the
// addition, where it is part of a sum.
func flopsPer(summed bool) float64 {
	if summed {
		return 2
	}
	return 1
}

func (s *search) size(n id) float64 { return s.sizes[slices.Index(s.ids, n)] }

func (s *search) volume(set uint64) float64 {
	v := 1.0
	for ; set != 0; set &= set - 1 {
		v *= s.sizes[bits.TrailingZeros64(set)]
	}
	return v
}

// best finds the order with the fewest operations by dynamic programming over the
// subsets of the tensors: the cheapest way to contract a subset is made of the
// cheapest ways for two parts of it. Of equally cheap ones it takes that with the
// smaller intermediate results.
func (s *search) best() [][2]int {
	n := len(s.sets)
	full := 1<<n - 1
	union := make([]uint64, full+1)
	for t := 1; t <= full; t++ {
		union[t] = union[t&(t-1)] | s.sets[bits.TrailingZeros(uint(t))]
	}
	kept := make([]uint64, full+1)
	for t := range kept {
		kept[t] = union[t] & (s.keep | union[full&^t])
	}
	cost, size, split := make([]float64, full+1), make([]float64, full+1), make([]int, full+1)
	for t := 1; t <= full; t++ {
		if t&(t-1) == 0 {
			continue
		}
		cost[t] = math.Inf(1)
		for a := (t - 1) & t; a > t&^a; a = (a - 1) & t {
			b := t &^ a
			all := kept[a] | kept[b]
			c := cost[a] + cost[b] + s.volume(all)*flopsPer(all != kept[t])
			if z := size[a] + size[b] + s.volume(kept[t]); c < cost[t] || c == cost[t] && z < size[t] {
				cost[t], size[t], split[t] = c, z, a
			}
		}
	}
	var pairs [][2]int
	var emit func(t int) int
	emit = func(t int) int {
		if t&(t-1) == 0 {
			return bits.TrailingZeros(uint(t))
		}
		a, b := emit(split[t]), emit(t&^split[t])
		pairs = append(pairs, [2]int{min(a, b), max(a, b)})
		return n + len(pairs) - 1
	}
	emit(full)
	return pairs
}

// greedyPairs takes, time and again, the pair whose product has the fewest elements
// less those that it makes unnecessary.
func greedyPairs(ls []*layout, dims *layout, size func(id) float64) [][2]int {
	volume := func(l *layout) float64 {
		v := 1.0
		for _, n := range l.ids {
			v *= size(n)
		}
		return v
	}
	numbers := make([]int, len(ls))
	uses := map[id]int{}
	for i, l := range ls {
		numbers[i] = i
		for _, n := range l.ids {
			uses[n]++
		}
	}
	ls = slices.Clone(ls)
	product := func(a, b *layout) *layout {
		return a.and(b).filter(func(n id) bool {
			own := 0
			for _, l := range []*layout{a, b} {
				if l.has(n) {
					own++
				}
			}
			return !dims.has(n) || uses[n] > own
		})
	}
	var pairs [][2]int
	for next := len(ls); len(ls) > 1; next++ {
		best, bi, bj := math.Inf(1), -1, -1
		for i := range ls {
			for j := range ls[:i] {
				if c := volume(product(ls[j], ls[i])) - volume(ls[i]) - volume(ls[j]); bi < 0 || c < best {
					best, bi, bj = c, j, i
				}
			}
		}
		p := product(ls[bi], ls[bj])
		for _, l := range []*layout{ls[bi], ls[bj]} {
			for _, n := range l.ids {
				uses[n]--
			}
		}
		for _, n := range p.ids {
			uses[n]++
		}
		pairs = append(pairs, [2]int{min(numbers[bi], numbers[bj]), max(numbers[bi], numbers[bj])})
		ls, numbers = slices.Delete(ls, bj, bj+1), slices.Delete(numbers, bj, bj+1)
		ls[bi], numbers[bi] = p, next
	}
	return pairs
}
