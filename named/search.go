package named

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// A search looks for the order in which contracting tensors takes the fewest operations. For up to
// maxSearched tensors it compares all orders. For more, it starts with several greedy orders and
// improves each until nothing changes: it takes the best of all trees with the same order of leaves
// (which is exact for chains in order), and replaces parts of the tree by the best tree for these
// parts.
type search struct {
	ids   []id
	sizes []float64
	words int       // number of words of a set
	sets  []nameSet // of the tensors
	keep  nameSet   // names of the result
}

// A nameSet is a set of positions among the names of a search.
type nameSet []uint64

func (s *search) set() nameSet { return make(nameSet, s.words) }

func (a nameSet) add(i int) { a[i/64] |= 1 << (i % 64) }

func (a nameSet) meets(b nameSet) bool {
	for i := range a {
		if a[i]&b[i] != 0 {
			return true
		}
	}
	return false
}

// volume returns the product of the sizes of the names in either set.
func (s *search) volume(a, b nameSet) float64 {
	v := 1.0
	for i := range a {
		for w := a[i] | b[i]; w != 0; w &= w - 1 {
			v *= s.sizes[64*i+bits.TrailingZeros64(w)]
		}
	}
	return v
}

// cost returns the number of operations for the product of two tensors whose result has the names
// out.
func (s *search) cost(a, b, out nameSet) float64 {
	summed := false
	for i := range a {
		summed = summed || a[i]|b[i] != out[i]
	}
	return s.volume(a, b) * flopsPer(summed)
}

const (
	maxSearched = 10  // number of tensors up to which all orders are compared
	maxLinear   = 128 // number of tensors up to which all trees over an order of them are compared
	maxPart     = 8   // number of leaves of the parts that are replaced
)

// A branch is a tensor of the search, or the product of two branches.
type branch struct {
	leaf int // the tensor; -1 for a product
	a, b *branch
	set  nameSet // the names of the product
	cost float64 // of computing it from the tensors
}

func (s *search) leaves() []*branch {
	out := make([]*branch, len(s.sets))
	for i, set := range s.sets {
		out[i] = &branch{leaf: i, set: set}
	}
	return out
}

// pairs returns the order: each step contracts two of the tensors, or of the results of earlier
// steps, which are numbered after the tensors.
func (s *search) pairs() [][2]int {
	n := len(s.sets)
	var best *branch
	if n <= maxSearched {
		best = s.exact(s.leaves(), s.keep)
	} else {
		r := rand.New(rand.NewPCG(uint64(n), 1))
		best = s.improved(s.linear(s.walk()))
		for try := range max(6, min(24, 600/n)) {
			if t := s.improved(s.greedy(r, try)); t.cost < best.cost {
				best = t
			}
		}
	}
	var out [][2]int
	var emit func(t *branch) int
	emit = func(t *branch) int {
		if t.leaf >= 0 {
			return t.leaf
		}
		a, b := emit(t.a), emit(t.b)
		out = append(out, [2]int{min(a, b), max(a, b)})
		return n + len(out) - 1
	}
	emit(best)
	return out
}

// join returns the product of two branches.
func (s *search) join(a, b *branch, out nameSet) *branch {
	return &branch{leaf: -1, a: a, b: b, set: out, cost: a.cost + b.cost + s.cost(a.set, b.set, out)}
}

// exact finds the best tree over branches by dynamic programming over their subsets: the cheapest
// way to contract a subset consists of the cheapest ways to contract two parts of it. Of equally
// cheap ones it takes the one with the smaller intermediate results. keep is the names of the
// result.
func (s *search) exact(leaves []*branch, keep nameSet) *branch {
	full := 1<<len(leaves) - 1
	room := make(nameSet, 2*s.words*(full+1))
	at := func(t int) nameSet { return room[t*s.words : (t+1)*s.words] }
	kept := func(t int) nameSet { return at(full + 1 + t) }
	cost, size, split := make([]float64, full+1), make([]float64, full+1), make([]int, full+1)
	for t := 1; t <= full; t++ {
		last := leaves[bits.TrailingZeros(uint(t))].set
		for w := range s.words {
			at(t)[w] = at(t & (t - 1))[w] | last[w]
		}
	}
	for t := 1; t <= full; t++ {
		for w := range s.words {
			kept(t)[w] = at(t)[w] & (keep[w] | at(full &^ t)[w])
		}
	}
	for t := 1; t <= full; t++ {
		if t&(t-1) == 0 {
			cost[t] = leaves[bits.TrailingZeros(uint(t))].cost
			continue
		}
		cost[t] = math.Inf(1)
		out := s.volume(kept(t), kept(t))
		for a := (t - 1) & t; a > t&^a; a = (a - 1) & t {
			b := t &^ a
			c := cost[a] + cost[b]
			if c > cost[t] {
				continue
			}
			c += s.cost(kept(a), kept(b), kept(t))
			if z := size[a] + size[b] + out; c < cost[t] || c == cost[t] && z < size[t] {
				cost[t], size[t], split[t] = c, z, a
			}
		}
	}
	var tree func(t int) *branch
	tree = func(t int) *branch {
		if t&(t-1) == 0 {
			return leaves[bits.TrailingZeros(uint(t))]
		}
		return s.join(tree(split[t]), tree(t&^split[t]), append(nameSet(nil), kept(t)...))
	}
	return tree(full)
}

// walk returns the tensors in the order of a walk along shared names, starting with the tensor that
// shares the fewest: a chain is returned in order, whatever the order of the operands.
func (s *search) walk() []*branch {
	all := s.leaves()
	near := func(t *branch) (n int) {
		for _, u := range all {
			if u != t && u.set.meets(t.set) {
				n++
			}
		}
		return n
	}
	start := all[0]
	for _, t := range all[1:] {
		if near(t) < near(start) {
			start = t
		}
	}
	var out []*branch
	seen := map[*branch]bool{}
	var visit func(t *branch)
	visit = func(t *branch) {
		if seen[t] {
			return
		}
		seen[t] = true
		out = append(out, t)
		for _, u := range all {
			if u.set.meets(t.set) {
				visit(u)
			}
		}
	}
	visit(start)
	for _, t := range all {
		visit(t)
	}
	return out
}

// linear finds the best tree whose leaves are in the given order, by dynamic programming over their
// intervals.
func (s *search) linear(leaves []*branch) *branch {
	n := len(leaves)
	before, behind := make([]nameSet, n+1), make([]nameSet, n+1)
	before[0], behind[n] = s.set(), s.set()
	or := func(a, b nameSet) nameSet {
		out := s.set()
		for w := range out {
			out[w] = a[w] | b[w]
		}
		return out
	}
	for i := range n {
		before[i+1] = or(before[i], leaves[i].set)
		behind[n-1-i] = or(behind[n-i], leaves[n-1-i].set)
	}
	kept, cost, split := make([]nameSet, n*n), make([]float64, n*n), make([]int, n*n)
	for i := n - 1; i >= 0; i-- {
		inside := s.set()
		for j := i; j < n; j++ {
			inside = or(inside, leaves[j].set)
			out := s.set()
			for w := range out {
				out[w] = inside[w] & (s.keep[w] | before[i][w] | behind[j+1][w])
			}
			at := i*n + j
			if kept[at] = out; i == j {
				continue
			}
			cost[at] = math.Inf(1)
			for m := i; m < j; m++ {
				a, b := i*n+m, (m+1)*n+j
				if c := cost[a] + cost[b]; c < cost[at] {
					if c += s.cost(kept[a], kept[b], out); c < cost[at] {
						cost[at], split[at] = c, m
					}
				}
			}
		}
	}
	var tree func(i, j int) *branch
	tree = func(i, j int) *branch {
		if i == j {
			return leaves[i]
		}
		m := split[i*n+j]
		return s.join(tree(i, m), tree(m+1, j), kept[i*n+j])
	}
	return tree(0, n-1)
}

// improved returns a tree that neither way of improving a tree can make cheaper.
func (s *search) improved(t *branch) *branch {
	for {
		before := t.cost
		t = s.reconfigured(t)
		if len(s.sets) <= maxLinear {
			var leaves []*branch
			if u := s.linear(t.appendLeaves(leaves)); u.cost < t.cost {
				t = u
			}
		}
		if t.cost >= before*(1-1e-6) {
			return t
		}
	}
}

func (t *branch) appendLeaves(to []*branch) []*branch {
	if t.leaf >= 0 {
		return append(to, t)
	}
	return t.b.appendLeaves(t.a.appendLeaves(to))
}

// reconfigured replaces, bottom-up, the upper part of each branch by the best tree over what is
// below that part.
func (s *search) reconfigured(t *branch) *branch {
	if t.leaf >= 0 {
		return t
	}
	a, b := s.reconfigured(t.a), s.reconfigured(t.b)
	if a != t.a || b != t.b {
		t = s.join(a, b, t.set)
	}
	part := []*branch{a, b}
	for len(part) < maxPart {
		most := -1
		for i, p := range part {
			if p.leaf < 0 && (most < 0 || p.cost > part[most].cost) {
				most = i
			}
		}
		if most < 0 {
			break
		}
		p := part[most]
		part[most] = p.a
		part = append(part, p.b)
	}
	if len(part) > 2 {
		if u := s.exact(part, t.set); u.cost < t.cost*(1-1e-9) {
			return u
		}
	}
	return t
}

// greedy repeatedly takes the pair with the lowest cost: the number of elements of the product
// minus the number of elements that are no longer needed. All tries but the first weigh the two
// differently, and add some noise.
func (s *search) greedy(r *rand.Rand, try int) *branch {
	live := s.leaves()
	weight, noise := 1.0, 0.0
	if try > 0 {
		weight, noise = 2*r.Float64(), 0.5*r.Float64()
	}
	uses := make([]int, len(s.ids))
	count := func(set nameSet, by int) {
		for i, w := range set {
			for ; w != 0; w &= w - 1 {
				uses[64*i+bits.TrailingZeros64(w)] += by
			}
		}
	}
	for _, t := range live {
		count(t.set, 1)
	}
	product := func(a, b nameSet) nameSet {
		out := s.set()
		for i := range out {
			out[i] = a[i] | b[i]
			for w := a[i] & b[i] &^ s.keep[i]; w != 0; w &= w - 1 {
				if k := bits.TrailingZeros64(w); uses[64*i+k] == 2 {
					out[i] &^= 1 << k
				}
			}
		}
		return out
	}
	for len(live) > 1 {
		best, bi, bj := math.Inf(1), 0, 1
		for j := range live {
			for i := range live[:j] {
				a, b := live[i].set, live[j].set
				if !a.meets(b) {
					continue
				}
				out := product(a, b)
				c := s.volume(out, out) - weight*(s.volume(a, a)+s.volume(b, b))
				if noise > 0 {
					c = math.Copysign(math.Log1p(math.Abs(c)), c) + noise*math.Log(-math.Log(r.Float64()+1e-300)+1e-300)
				}
				if c < best {
					best, bi, bj = c, i, j
				}
			}
		}
		a, b := live[bi], live[bj]
		t := s.join(a, b, product(a.set, b.set))
		count(a.set, -1)
		count(b.set, -1)
		count(t.set, 1)
		live[bi] = t
		live[bj] = live[len(live)-1]
		live = live[:len(live)-1]
	}
	return live[0]
}
