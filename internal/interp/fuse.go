package interp

import (
	"context"
	"slices"
	"sync"
	"unsafe"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/kernel/stream"
	"github.com/tenonml/tenon/internal/par"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A group is a run of elementwise nodes that go through their operands together,
// a block at a time: what one node writes the next one reads from cache, and
// only what is used outside the group goes to memory.
type group struct {
	nodes  []groupNode
	inputs []int  // slots read from outside
	outs   []int  // slots used outside
	outAt  []int  // for each of outs, the node that computes it
	regs   int    // temporaries of one block
	size   int    // bytes of the largest element
	roots  []int  // nodes that read inputs only
	steps  []step // the same nodes one by one, where the shapes do not allow fusing
	whole  *composite
}

// groupNode is a node of a group. Operands are inputs of the group (from 0 on) or
// earlier nodes (from -1 down).
type groupNode struct {
	f        op.BlockFunc
	operands [3]int
	n        int
	dtype    dtype.DType
	reg      int // temporary it writes to; from group.regs on for outputs, which may have none
}

const (
	// blockBytes is the size of the largest operand's part in a block: the handful
	// of temporaries that a chain needs stays in the first-level cache.
	blockBytes = 4096

	// stagger keeps temporaries from starting at the same place of a page, where
	// loads would wait for stores to their neighbours.
	stagger = 5 * 64

	// A group of fewer nodes on fewer elements runs one by one: it is not worth the
	// bookkeeping.
	minElements = 4096
	minNodes    = 4

	minFuse = 2 // the nodes of the smallest group
)

// fusible returns the loop of a node, and nil where it is none that fuses.
func fusible(n *graph.Node) (op.BlockFunc, dtype.DType) {
	if n.Op.Block == nil || !n.Op.IsElementwise() || len(n.Outs) != 1 {
		return nil, dtype.None
	}
	in := n.Inputs()
	if len(in) != len(n.Args) || len(in) > 3 {
		return nil, dtype.None // attributes or absent operands
	}
	types := make([]dtype.DType, len(in))
	for i, v := range in {
		if types[i] = v.DType(); types[i] == dtype.String {
			return nil, dtype.None
		}
	}
	f, d := n.Op.Block(types)
	if f == nil || d != n.Outs[0].DType() {
		return nil, dtype.None
	}
	return f, d
}

// join makes groups of neighbouring steps.
func (p *Plan) join() {
	g := p.graph
	readers := make([][]int, p.slots) // the nodes that read a slot
	for i, n := range p.nodes {
		for _, v := range n.Inputs() {
			readers[v.ID()] = append(readers[v.ID()], i)
		}
	}
	for _, o := range g.Outputs {
		readers[o.ID()] = append(readers[o.ID()], len(p.nodes))
	}
	var steps []step
	for i := 0; i < len(p.nodes); {
		j := i
		for j < len(p.nodes) && sameShape(p.nodes[i], p.nodes[j]) {
			if f, _ := fusible(p.nodes[j]); f == nil {
				break
			}
			j++
		}
		if j-i < minFuse {
			steps = append(steps, p.steps[i])
			i++
			continue
		}
		steps = append(steps, p.fuse(i, j, readers))
		i = j
	}
	p.steps = steps
}

// sameShape reports whether two nodes' results have the same shape, as far as is
// known; the group checks again with data.
func sameShape(a, b *graph.Node) bool {
	return len(a.Outs) == 1 && len(b.Outs) == 1 && a.Outs[0].Shape().Equal(b.Outs[0].Shape())
}

// fuse makes one step of nodes i to j-1.
func (p *Plan) fuse(i, j int, readers [][]int) step {
	nodes := p.nodes[i:j]
	g := &group{steps: p.steps[i:j:j]}
	at := map[int]int{} // operand number of a slot
	lastUse := make([]int, len(nodes))
	external := make([]bool, len(nodes))
	for k, n := range nodes {
		gn := groupNode{reg: -1}
		gn.f, gn.dtype = fusible(n)
		g.size = max(g.size, gn.dtype.Size())
		for m, v := range n.Inputs() {
			where, ok := at[v.ID()]
			if !ok {
				where = len(g.inputs)
				g.inputs = append(g.inputs, v.ID())
				at[v.ID()] = where
			}
			if where < 0 {
				lastUse[-1-where] = k
			}
			gn.operands[m] = where
			g.size = max(g.size, v.DType().Size())
			gn.n++
		}
		if !slices.ContainsFunc(gn.operands[:gn.n], func(o int) bool { return o < 0 }) {
			g.roots = append(g.roots, k)
		}
		out := n.Outs[0].ID()
		at[out] = -1 - k
		for _, r := range readers[out] {
			external[k] = external[k] || r >= j
		}
		g.nodes = append(g.nodes, gn)
		if external[k] {
			g.outs = append(g.outs, out)
			g.outAt = append(g.outAt, k)
		}
	}
	// Give temporaries registers; one is free again after the last node that reads it.
	var free []int
	for k := range g.nodes {
		if !external[k] {
			if len(free) > 0 {
				g.nodes[k].reg, free = free[len(free)-1], free[:len(free)-1]
			} else {
				g.nodes[k].reg = g.regs
				g.regs++
			}
		}
		for m := range k {
			if lastUse[m] == k && g.nodes[m].reg >= 0 {
				free = append(free, g.nodes[m].reg)
			}
		}
	}
	for j, k := range g.outAt {
		g.nodes[k].reg = g.regs + j
	}
	g.whole = g.compose(nodes)
	s := step{group: g, line: nodes[0].Line, x: -1, y: -1}
	for k := i; k < j; k++ {
		s.free = append(s.free, p.steps[k].free...)
	}
	g.alone(at)
	return s
}

// alone renumbers the group's single steps: their slots are the group's inputs, and
// behind them its nodes.
func (g *group) alone(at map[int]int) {
	slot := func(id int) int {
		if where := at[id]; where < 0 {
			return len(g.inputs) - 1 - where
		}
		return at[id]
	}
	for i := range g.steps {
		s := &g.steps[i]
		for k := range s.args {
			s.args[k].slot = slot(s.args[k].slot)
		}
		s.outs = []int{len(g.inputs) + i}
		s.free = nil
		if s.x >= 0 {
			s.x = slot(s.x)
		}
		if s.y >= 0 {
			s.y = slot(s.y)
		}
	}
}

// oneByOne runs the nodes of a group one after the other.
func (g *group) oneByOne(ctx context.Context, slots []tensor.Tensor) error {
	return g.inTurn(ctx, slots, func(*step, []tensor.Tensor) error { return nil })
}

// inTurn is oneByOne that calls look after each node.
func (g *group) inTurn(ctx context.Context, slots []tensor.Tensor, look func(s *step, slots []tensor.Tensor) error) error {
	own := make([]tensor.Tensor, len(g.inputs)+len(g.nodes))
	for i, id := range g.inputs {
		own[i] = slots[id]
	}
	for i := range g.steps {
		if err := g.steps[i].run(ctx, own); err != nil {
			return err
		}
		if err := look(&g.steps[i], own); err != nil {
			return err
		}
	}
	for i, k := range g.outAt {
		slots[g.outs[i]] = own[len(g.inputs)+k]
	}
	return nil
}

// form is how an operand lies beside the result.
type form struct {
	base   unsafe.Pointer
	size   int // bytes of an element
	scalar bool
	period int // elements after which it repeats; 0: as long as the result
}

// run is what one run of a group works on.
type run struct {
	n, step int // elements, and elements of the shortest row that repeats, or n
	block   int // elements of a block
	forms   []form
	outs    []unsafe.Pointer // of each node that writes to memory
	past    bool             // results are too large for the cache, so go past it
	scratch
}

// scratch is the memory of one worker.
type scratch struct {
	temps []byte
	at    []unsafe.Pointer // where the result of each node of the block is
	x     [3]unsafe.Pointer
}

var (
	runs      = sync.Pool{New: func() any { return new(run) }}
	scratches = sync.Pool{New: func() any { return new(scratch) }}
)

// run computes the group's outputs, and reports false where the shapes do not
// allow it, or it is not worth it: then the nodes have to run one by one.
func (g *group) run(slots []tensor.Tensor) bool {
	r := runs.Get().(*run)
	ok := g.prepare(r, slots)
	if ok && (g.whole == nil || !g.whole.run(g, r)) {
		g.all(r)
	}
	clear(r.forms)
	clear(r.outs)
	runs.Put(r)
	return ok
}

// prepare finds the forms of the operands and allocates the results.
func (g *group) prepare(r *run, slots []tensor.Tensor) bool {
	var s *tensor.Dense
	r.n, r.forms = -1, r.forms[:0]
	for _, id := range g.inputs {
		d, ok := slots[id].(*tensor.Dense)
		if !ok || !d.IsContiguous() {
			return false
		}
		if d.Len() > r.n {
			s, r.n = d, d.Len()
		}
	}
	if r.n == 0 || r.n < minElements && len(g.nodes) < minNodes {
		return false
	}
	shape := s.Shape()
	r.step = r.n
	for _, id := range g.inputs {
		f, ok := formOf(slots[id].(*tensor.Dense), shape)
		if !ok {
			return false
		}
		r.forms = append(r.forms, f)
		if f.period > 0 {
			if r.step != r.n && r.step != f.period {
				return false
			}
			r.step = f.period
		}
	}
	if !g.full(r.forms) {
		return false
	}
	r.outs = slices.Grow(r.outs[:0], len(g.nodes))[:len(g.nodes)]
	bytes := 0
	for i, k := range g.outAt {
		t := tensor.Uninit(g.nodes[k].dtype, shape)
		slots[g.outs[i]] = t
		r.outs[k] = t.Raw()
		bytes += r.n * g.nodes[k].dtype.Size()
	}
	r.past = bytes >= stream.Threshold
	r.block = blockBytes / g.size
	return true
}

// all computes all elements. Work is cut into rows of the shortest period, or into
// blocks where there is none.
func (g *group) all(r *run) {
	grain := 16 * r.block
	if r.step != r.n {
		grain = max(1, grain/r.step) * r.step
	}
	if r.n <= grain {
		g.blocks(0, r.n, r, &r.scratch)
		return
	}
	par.For(r.n, grain, func(lo, hi int) {
		w := scratches.Get().(*scratch)
		g.blocks(lo, hi, r, w)
		scratches.Put(w)
	})
}

func formOf(d *tensor.Dense, s shape.Shape) (form, bool) {
	f := form{base: d.Raw(), size: d.DType().Size()}
	switch {
	case d.Shape().Equal(s):
		return f, true
	case d.Len() == 1 && d.Rank() <= s.Rank():
		f.scalar = true
		return f, true
	}
	// A row that repeats: its shape is the end of s, behind axes of size 1.
	r := d.Shape()
	if r.Rank() > s.Rank() {
		return f, false
	}
	ones := true
	for a := r.Rank() - 1; a >= 0; a-- {
		same := r.Dim(a) == s.Dim(a-r.Rank()+s.Rank())
		switch {
		case ones && same:
		case r.Dim(a) == 1:
			ones = false
		default:
			return f, false
		}
	}
	f.period = d.Len()
	return f, f.period >= 64
}

// full reports whether every node has an operand as large as the result, so
// that all of them have its shape: for a node that reads another one that is so.
func (g *group) full(forms []form) bool {
	for _, k := range g.roots {
		n := &g.nodes[k]
		if !slices.ContainsFunc(n.operands[:n.n], func(o int) bool { return !forms[o].scalar && forms[o].period == 0 }) {
			return false
		}
	}
	return true
}

// ahead returns the place, from element i on, of the operand that is fetched while the
// j-th result is written.
func (r *run) ahead(j, i int) unsafe.Pointer {
	for k := range r.forms {
		f := &r.forms[k]
		if f.scalar || f.period > 0 {
			continue
		}
		if j == 0 {
			return unsafe.Add(f.base, min(i, r.n-1)*f.size)
		}
		j--
	}
	return unsafe.Pointer(unsafe.SliceData(r.temps)) // all of them are on their way
}

// blocks computes elements lo to hi.
func (g *group) blocks(lo, hi int, r *run, w *scratch) {
	const stride = blockBytes + stagger
	if n := (g.regs + len(g.outs)) * stride; len(w.temps) < n {
		w.temps = make([]byte, n)
	}
	if len(w.at) < len(g.nodes) {
		w.at = make([]unsafe.Pointer, len(g.nodes))
	}
	temps := unsafe.Pointer(unsafe.SliceData(w.temps))
	for i := lo; i < hi; {
		m := min(r.block, hi-i)
		if r.step != r.n {
			m = min(m, r.step-i%r.step) // stay inside one row
		}
		for k := range g.nodes {
			nd := &g.nodes[k]
			var scalars uint8
			for j, o := range nd.operands[:nd.n] {
				if o < 0 {
					w.x[j] = w.at[-1-o]
					continue
				}
				switch f := &r.forms[o]; {
				case f.scalar:
					w.x[j] = f.base
					scalars |= 1 << j
				case f.period > 0:
					w.x[j] = unsafe.Add(f.base, i%f.period*f.size)
				default:
					w.x[j] = unsafe.Add(f.base, i*f.size)
				}
			}
			if nd.reg < g.regs || r.past {
				w.at[k] = unsafe.Add(temps, nd.reg*stride)
			} else {
				w.at[k] = unsafe.Add(r.outs[k], i*nd.dtype.Size())
			}
			nd.f(w.at[k], &w.x, m, scalars)
		}
		if r.past {
			for j, k := range g.outAt {
				size := g.nodes[k].dtype.Size()
				stream.Ahead(unsafe.Add(r.outs[k], i*size), w.at[k], m*size, r.ahead(j, i+m))
			}
		}
		i += m
	}
	clear(w.at[:len(g.nodes)])
	w.x = [3]unsafe.Pointer{}
}
