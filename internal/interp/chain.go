package interp

import (
	"slices"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/kernel/elementwise"
	"github.com/tenonml/tenon/internal/kernel/fused"
)

// A chain is a sequence of nodes of a group that are executed together in registers
// ([fused.Chain]): simple functions of floats, and nodes that give each value the number of its
// row.
type chain struct {
	dtype  dtype.DType
	nodes  []int // in order
	steps  []fused.ChainStep
	arrays []chainArray
}

// chainArray is an array that a chain reads or writes: an input of the group, or the result of a
// node inside or outside of the chain.
type chainArray struct {
	input, node int // -1 if it is not one
	perRow, out bool
}

// unit is what is executed on a block at once: a node or a chain.
type unit struct {
	node  int
	chain *chain
}

// nodes returns the nodes of a unit.
func (u *unit) nodes() []int {
	if u.chain != nil {
		return u.chain.nodes
	}
	return []int{u.node}
}

const (
	mostSlots = 20  // largest number of values that a chain holds at a time, so that they fit into the first-level cache
	mostNodes = 256 // largest number of nodes of a chain
	someNodes = 16  // the same if a longer chain would hold too many values
)

var chainOps = func() map[string]elementwise.Op {
	m := map[string]elementwise.Op{}
	for _, o := range elementwise.Ops() {
		if fused.InChain(o) {
			m[o.String()] = o
		}
	}
	return m
}()

// units divides the nodes of the group into chains and single nodes. A node that reads nothing of
// the preceding chain runs before it, so that the chain can continue. If repeat is not set, nodes
// that repeat numbers of rows are single nodes.
func (b *builder) units(nodes []*graph.Node, most int, repeat bool) []unit {
	done := make([]unit, 0, len(nodes))
	var open *chain
	b.chainOf = make([]*chain, len(nodes))
	finish := func() {
		switch {
		case open == nil:
		case len(open.nodes) == 1:
			done = append(done, unit{node: open.nodes[0]})
		default:
			done = append(done, unit{chain: open})
		}
		open = nil
	}
	for k, n := range nodes {
		nd := &b.nodes[k]
		if !b.used[k] || nd.rows != nil && !repeat || !b.chains(k, n) {
			if open != nil && slices.ContainsFunc(nd.operands[:nd.n], func(o int) bool { return o < 0 && b.chainOf[-1-o] == open }) {
				finish()
			}
			done = append(done, unit{node: k})
			continue
		}
		if open != nil && (open.dtype != nd.dtype || len(open.nodes) == most) {
			finish()
		}
		if open == nil {
			open = &chain{dtype: nd.dtype}
		}
		open.nodes = append(open.nodes, k)
		b.chainOf[k] = open
	}
	finish()
	return done
}

// chains reports whether a node can be part of a chain.
func (b *builder) chains(k int, n *graph.Node) bool {
	nd := &b.nodes[k]
	if nd.perRow || !fused.HasChains(nd.dtype) {
		return false
	}
	for _, v := range n.Inputs()[:nd.n] {
		if v.DType() != nd.dtype {
			return false
		}
	}
	if nd.rows != nil {
		return n.Op.Name == "ragged.repeat"
	}
	_, ok := chainOps[n.Op.Name]
	return ok
}

// origin returns the operand that o is a view of, or o itself.
func (b *builder) origin(o int) int {
	for o < 0 && b.views[-1-o] {
		o = b.nodes[-1-o].operands[0]
	}
	return o
}

// plan puts the nodes of the group into execution order and determines what each chain reads and
// writes. Nodes whose results are no longer read become idle.
func (b *builder) plan(nodes []*graph.Node) []unit {
	units := b.units(nodes, mostNodes, true)
	repeat := b.oneChain(units)
	if !repeat {
		units = b.units(nodes, mostNodes, false)
	}
	for _, u := range units {
		if u.chain != nil && b.describe(u.chain, nodes, nil) > mostSlots {
			units = b.units(nodes, someNodes, repeat)
			break
		}
	}
	read := slices.Clone(b.external) // read outside of its own chain
	for i := len(units) - 1; i >= 0; i-- {
		switch u := &units[i]; {
		case u.chain == nil && read[u.node]:
			nd := &b.nodes[u.node]
			for _, o := range nd.operands[:nd.n] {
				if o < 0 {
					read[-1-o] = true
				}
			}
		case u.chain != nil:
			b.describe(u.chain, nodes, read)
			for _, a := range u.chain.arrays {
				if a.node >= 0 {
					read[a.node] = true
				}
			}
		}
	}
	b.used = read
	return units
}

// oneChain reports whether everything is a single chain, apart from views of what it reads. Nothing
// is then computed block by block. In blocks, a separate loop that repeats numbers of rows is
// faster.
func (b *builder) oneChain(units []unit) bool {
	chains := 0
	for _, u := range units {
		switch {
		case u.chain != nil:
			chains++
		case b.used[u.node] && (!b.views[u.node] || b.external[u.node]):
			return false
		}
	}
	return chains == 1
}

// describe determines the steps and arrays of a chain and returns the largest number of values it
// holds at a time. read tells which of its nodes have results that others read.
func (b *builder) describe(c *chain, nodes []*graph.Node, read []bool) int {
	c.steps, c.arrays = c.steps[:0], c.arrays[:0]
	array := func(a chainArray) int {
		if i := slices.Index(c.arrays, a); i >= 0 {
			return i
		}
		c.arrays = append(c.arrays, a)
		return len(c.arrays) - 1
	}
	at := make(map[int]int, len(c.nodes))
	for i, k := range c.nodes {
		at[k] = i
	}
	for _, k := range c.nodes {
		nd := &b.nodes[k]
		s := fused.ChainStep{Op: chainOps[nodes[k].Op.Name], Out: -1}
		for j, o := range nd.operands[:nd.n] {
			o = b.origin(o)
			step, own := at[-1-o]
			switch {
			case o >= 0:
				s.Operands[j] = array(chainArray{input: o, node: -1, perRow: nd.rows != nil})
			case own:
				s.Operands[j] = -1 - step
			default:
				s.Operands[j] = array(chainArray{input: -1, node: -1 - o, perRow: nd.rows != nil})
			}
		}
		if read != nil && read[k] {
			s.Out = array(chainArray{input: -1, node: k, out: true})
		}
		c.steps = append(c.steps, s)
	}
	forms := make([]fused.ArrayForm, len(c.arrays))
	for i, a := range c.arrays {
		if a.input >= 0 && !a.perRow {
			forms[i] = fused.Single // the form that takes the most slots
		}
	}
	return fused.NewChain(c.dtype, c.steps, forms).Slots()
}
