package interp

import (
	"sync"
	"unsafe"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/graph"
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
	steps  []step // the same nodes one by one, where the shapes do not allow fusing
}

// groupNode is a node of a group. Operands are inputs of the group (from 0 on) or
// earlier nodes (from -1 down).
type groupNode struct {
	f        op.BlockFunc
	operands [3]int
	n        int
	dtype    dtype.DType
	reg      int // temporary it writes to; -1: an output
}

// blockBytes is the size of a temporary: 1024 elements of 8 bytes, so that the
// handful of temporaries that a chain needs stays in the first-level cache.
const (
	blockLen   = 1024
	blockBytes = blockLen * 16
	minFuse    = 2
	// minElements is the size below which the nodes run one by one: a block is not
	// worth its bookkeeping.
	minElements = 4096
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
	for i, n := range g.Nodes {
		for _, v := range n.Inputs() {
			readers[v.ID()] = append(readers[v.ID()], i)
		}
	}
	for _, o := range g.Outputs {
		readers[o.ID()] = append(readers[o.ID()], len(g.Nodes))
	}
	var steps []step
	for i := 0; i < len(g.Nodes); {
		j := i
		for j < len(g.Nodes) && sameShape(g.Nodes[i], g.Nodes[j]) {
			if f, _ := fusible(g.Nodes[j]); f == nil {
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
	nodes := p.graph.Nodes[i:j]
	g := &group{steps: p.steps[i:j:j]}
	at := map[int]int{} // operand number of a slot
	lastUse := make([]int, len(nodes))
	external := make([]bool, len(nodes))
	for k, n := range nodes {
		gn := groupNode{reg: -1}
		gn.f, gn.dtype = fusible(n)
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
			gn.n++
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
	s := step{group: g, line: nodes[0].Line, x: -1, y: -1}
	for k := i; k < j; k++ {
		s.free = append(s.free, p.steps[k].free...)
	}
	return s
}

// form is how an operand lies beside the result.
type form struct {
	base   unsafe.Pointer
	size   int // bytes of an element
	scalar bool
	period int // elements after which it repeats; 0: as long as the result
}

var scratch = sync.Pool{New: func() any { return new([][blockBytes]byte) }}

// run computes the group's outputs, and reports false where the shapes do not
// allow it: then the nodes have to run one by one.
func (g *group) run(slots []tensor.Tensor) bool {
	var s shape.Shape
	n := -1
	for _, id := range g.inputs {
		d, ok := slots[id].(*tensor.Dense)
		if !ok || !d.IsContiguous() {
			return false
		}
		if d.Len() > n {
			s, n = d.Shape(), d.Len()
		}
	}
	if n < minElements {
		return false
	}
	forms := make([]form, len(g.inputs))
	step := n
	for i, id := range g.inputs {
		d := slots[id].(*tensor.Dense)
		f, ok := formOf(d, s)
		if !ok {
			return false
		}
		forms[i] = f
		if f.period > 0 {
			if step != n && step != f.period {
				return false
			}
			step = f.period
		}
	}
	if !g.full(forms) {
		return false
	}
	outs := make([]unsafe.Pointer, len(g.nodes))
	for i, k := range g.outAt {
		t := tensor.Uninit(g.nodes[k].dtype, s)
		slots[g.outs[i]] = t
		outs[k] = t.Raw()
	}
	// Work is cut into rows of the shortest period, or into blocks where there is none.
	grain := 16 * blockLen
	if step != n {
		grain = max(1, grain/step) * step
	}
	par.For(n, grain, func(lo, hi int) { g.blocks(lo, hi, step, n, forms, outs) })
	return true
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
// that all of them have its shape.
func (g *group) full(forms []form) bool {
	for _, n := range g.nodes {
		ok := false
		for _, o := range n.operands[:n.n] {
			ok = ok || o < 0 || !forms[o].scalar && forms[o].period == 0
		}
		if !ok {
			return false
		}
	}
	return true
}

// blocks computes elements lo to hi.
func (g *group) blocks(lo, hi, step, n int, forms []form, outs []unsafe.Pointer) {
	temps := scratch.Get().(*[][blockBytes]byte)
	defer scratch.Put(temps)
	if len(*temps) < g.regs {
		*temps = make([][blockBytes]byte, g.regs)
	}
	var small [16]unsafe.Pointer
	at := small[:]
	if len(g.nodes) > len(small) {
		at = make([]unsafe.Pointer, len(g.nodes))
	}
	for i := lo; i < hi; {
		m := min(blockLen, hi-i)
		if step != n {
			m = min(m, step-i%step) // stay inside one row
		}
		for k := range g.nodes {
			nd := &g.nodes[k]
			var x [3]unsafe.Pointer
			var scalars uint8
			for j, o := range nd.operands[:nd.n] {
				switch {
				case o < 0:
					x[j] = at[-1-o]
				case forms[o].scalar:
					x[j] = forms[o].base
					scalars |= 1 << j
				case forms[o].period > 0:
					x[j] = unsafe.Add(forms[o].base, i%forms[o].period*forms[o].size)
				default:
					x[j] = unsafe.Add(forms[o].base, i*forms[o].size)
				}
			}
			if nd.reg >= 0 {
				at[k] = unsafe.Pointer(&(*temps)[nd.reg])
			} else {
				at[k] = unsafe.Add(outs[k], i*nd.dtype.Size())
			}
			nd.f(at[k], &x, m, scalars)
		}
		i += m
	}
}
