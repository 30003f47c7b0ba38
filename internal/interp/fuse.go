package interp

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// A group is a sequence of nodes that process their operands together, a block at a time: what one
// node writes, the next one reads from cache, and only what is used outside of the group goes to
// memory. The nodes are elementwise or work on rows; in the latter case a block consists of whole
// rows.
type group struct {
	nodes  []groupNode
	loops  []blockNode // what a block runs: a node, or a chain of them
	inputs []input
	chains []*chain
	outs   []int  // slots used outside of the group
	outAt  []int  // for each slot in outs, the node that computes it
	regs   int    // number of temporaries of one block
	size   int    // size of the largest element in bytes
	splits int    // the input that holds row splits, or -1 if all nodes are elementwise
	steps  []step // the same nodes one by one, for shapes that do not allow fusion
	whole  *composite
	kernel kernel // replaces everything that concerns blocks

	moving []link // links to operands that are not in temporaries
	read   int    // number of leading entries of moving that are inputs

	known           atomic.Pointer[shapes] // shapes of the last run
	runs, scratches sync.Pool
}

// A kernel computes all of a group at once. It reports false if the operands are not as it needs them; the
// nodes then run one by one.
type kernel interface {
	run(g *group, slots []tensor.Tensor) bool
}

// blockNode is the compact form of a node used by the loop over the nodes of a block.
type blockNode struct {
	f      op.BlockFunc
	node   int32
	chain  int32 // number of a chain, counted from 1, which replaces all else
	reg    int32
	plain  bool // elementwise, with a temporary of its own
	perRow bool
}

// link says that an operand of a node is an input of the group or one of its results, which are
// numbered after the inputs.
type link struct{ node, index, operand int32 }

// input is a tensor that a group reads from outside.
type input struct {
	slot int
	role role
	rank int // rank of the tensor, or -1 if it is unknown
}

// role is the role of an input.
type role uint8

const (
	unused   role = iota // needed only if the nodes run one by one
	elements             // an element for each value, or for each element if there are no rows
	ofRows               // an element for each row
	table                // the same for all rows
	splits               // row splits
)

// groupNode is a node of a group. Operands are inputs of the group (from 0 on) or
// earlier nodes (from -1 down).
type groupNode struct {
	f        op.BlockFunc
	rows     *op.RowLoop // replaces f
	operands [3]int
	n        int
	dtype    dtype.DType
	perRow   bool   // the result has one element for each row
	rank     int    // rank of the result
	idle     bool   // its result is read only if the nodes run one by one
	chained  bool   // runs in a chain
	shared   bool   // another node or chain reads the result from memory
	reg      int    // temporary that it writes to; at least group.regs for outputs, which may have none
	readers  [2]int // range of group.moving that reads it
}

const (
	// blockBytes is the size of the largest operand's part of a block, so that the few temporaries
	// of a group fit into the first-level cache.
	blockBytes = 4096

	// stagger keeps temporaries from having the same page offset, which would make loads wait for
	// stores to other temporaries.
	stagger = 5 * 64

	// A group of fewer nodes on fewer elements runs one by one, because it is not worth the
	// overhead.
	minElements = 4096
	minNodes    = 4

	minFuse = 2 // number of nodes of the smallest group
)

// join combines consecutive steps into groups.
func (p *Plan) join(l *layout) {
	g := p.graph
	readers := make([][]int, p.slots) // the nodes that read each slot
	for i, n := range p.nodes {
		n.EachInput(func(v *graph.Value) { readers[v.ID()] = append(readers[v.ID()], i) })
	}
	for _, o := range g.Outputs {
		readers[o.ID()] = append(readers[o.ID()], len(p.nodes))
	}
	var steps []step
	for i := 0; i < len(p.nodes); {
		if s, ok := p.attention(l, i, readers); ok {
			steps = append(steps, s)
			i += attendNodes
			continue
		}
		if s, ok := p.onto(l, i); ok {
			steps = append(steps, s)
			i += 2
			continue
		}
		j := i + 1
		for j < len(p.nodes) && l.together(p.nodes[i], p.nodes[j]) {
			j++
		}
		if !l.onRows(p.nodes[i:j]) {
			for j = i + 1; j < len(p.nodes) && l.alike(p.nodes[i], p.nodes[j]); j++ {
			}
		}
		if s, ok := p.fuse(l, i, j, readers); ok {
			steps = append(steps, s)
		} else {
			steps = append(steps, p.steps[i:j]...)
		}
		i = j
	}
	p.steps = steps
}

// fuse turns the nodes [i, j) into one step, or reports false if that is not possible.
func (p *Plan) fuse(l *layout, i, j int, readers [][]int) (step, bool) {
	nodes := p.nodes[i:j]
	if len(nodes) < minFuse || l.loops[nodes[0]] == nil {
		return step{}, false
	}
	b := newBuilder(l, l.onRows(nodes))
	for k, n := range nodes {
		if !b.add(n, slices.ContainsFunc(readers[n.Outs[0].ID()], func(r int) bool { return r >= j })) {
			return step{}, false
		}
		if b.external[k] {
			b.outs = append(b.outs, n.Outs[0].ID())
			b.outAt = append(b.outAt, k)
		}
	}
	b.registers(b.plan(nodes))
	g := b.group
	if g.splits < 0 {
		g.whole = g.compose(nodes)
	}
	s := step{group: g, line: nodes[0].Line}
	for k := i; k < j; k++ {
		s.free = append(s.free, p.steps[k].free...)
	}
	g.steps = p.steps[i:j:j]
	b.alone(nodes)
	return s, true
}

// operand is a value in one of its roles.
type operand struct {
	id int
	role
}

// A builder constructs a group.
type builder struct {
	*group
	layout   *layout
	rows     bool // some nodes work on rows
	inputAt  map[operand]int
	nodeAt   map[int]int // node by ID of its result
	external []bool      // by node: its result is used outside of the group
	used     []bool      // by node: its result is read by a node of the group or outside
	views    []bool      // by node: it reshapes a column
	chainOf  []*chain    // by node: the chain that it belongs to
}

func newBuilder(l *layout, rows bool) *builder {
	return &builder{group: &group{splits: -1}, layout: l, rows: rows, inputAt: map[operand]int{}, nodeAt: map[int]int{}}
}

// input returns the number of the input for a value from outside in a role.
func (b *builder) input(v *graph.Value, r role) int {
	key := operand{v.ID(), r}
	where, ok := b.inputAt[key]
	if !ok {
		where = len(b.inputs)
		b.inputAt[key] = where
		b.inputs = append(b.inputs, input{v.ID(), r, v.Shape().Rank()})
	}
	return where
}

// inside reports whether a node of the group computes v.
func (b *builder) inside(v *graph.Value) bool {
	_, ok := b.nodeAt[v.ID()]
	return ok
}

// add adds a node. It reports false if that is not possible: the group itself computes row splits
// or a table that the node reads, or the node reads per-row results as if they were per-value.
func (b *builder) add(n *graph.Node, external bool) bool {
	x, in, out := b.layout.loops[n], n.Inputs(), n.Outs[0]
	nd := groupNode{f: x.f, rows: x.rows, dtype: x.dtype, reg: -1, rank: out.Shape().Rank()}
	if p, ok := b.layout.places[out.ID()]; ok && b.rows {
		nd.perRow = p.along == op.PerRow
	}
	if x.rows != nil {
		nd.perRow = x.rows.To == op.PerRow
	}
	from := elements
	if nd.perRow {
		from = ofRows
	}
	operands, rest := in, []*graph.Value(nil)
	var partition *graph.Value
	switch {
	case x.table:
		from, operands, rest = table, in[:1], in[1:]
		at := in[1].Node().Inputs()
		partition = at[len(at)-1]
	case x.rows != nil:
		operands, partition = in[:len(in)-1], in[len(in)-1]
		if from = elements; x.rows.From == op.PerRow {
			from = ofRows
		}
	case isColumnView(n):
		operands, rest = in[:1], in[1:]
	}
	for _, v := range operands {
		switch {
		case !b.inside(v):
			nd.operands[nd.n] = b.input(v, from)
		case from == table || b.nodes[b.nodeAt[v.ID()]].perRow != (from == ofRows):
			return false
		default:
			k := b.nodeAt[v.ID()]
			nd.operands[nd.n] = -1 - k
			b.used[k] = true
		}
		nd.n++
		b.size = max(b.size, v.DType().Size())
	}
	for _, v := range rest {
		if !b.inside(v) {
			b.input(v, unused)
		}
	}
	if partition != nil {
		if b.inside(partition) {
			return false
		}
		b.splits = b.input(partition, splits)
	}
	b.size = max(b.size, nd.dtype.Size())
	b.nodeAt[out.ID()] = len(b.nodes)
	b.nodes = append(b.nodes, nd)
	b.external = append(b.external, external)
	b.used = append(b.used, external)
	b.views = append(b.views, isColumnView(n))
	return true
}

// whole returns the step that runs the nodes [i, j), of which only the last has a result that others read,
// by a kernel.
func (b *builder) whole(p *Plan, i, j int, k kernel) step {
	nodes := p.nodes[i:j]
	g := b.group
	g.kernel = k
	g.outs, g.outAt = []int{nodes[len(nodes)-1].Outs[0].ID()}, []int{len(nodes) - 1}
	s := step{group: g, line: nodes[len(nodes)-1].Line}
	for k := i; k < j; k++ {
		s.free = append(s.free, p.steps[k].free...)
	}
	g.steps = p.steps[i:j:j]
	b.alone(nodes)
	return s
}

// alone renumbers the slots of the group's single steps: the group's inputs come first, followed by
// the results of its nodes.
func (b *builder) alone(nodes []*graph.Node) {
	slots := map[int]int{}
	for i, in := range b.inputs {
		slots[in.slot] = i
	}
	for k, n := range nodes {
		slots[n.Outs[0].ID()] = len(b.inputs) + k
	}
	for i := range b.steps {
		s := &b.steps[i]
		for k := range s.args {
			if s.args[k].slot >= 0 {
				s.args[k].slot = slots[s.args[k].slot]
			}
		}
		s.outs = []int{len(b.inputs) + i}
		s.free = nil
	}
}

// oneByOne runs the nodes of a group one after the other.
func (g *group) oneByOne(ctx context.Context, slots []tensor.Tensor) error {
	return g.inTurn(ctx, slots, func(*step, []tensor.Tensor) error { return nil })
}

// inTurn is oneByOne that calls look after each node.
func (g *group) inTurn(ctx context.Context, slots []tensor.Tensor, look func(s *step, slots []tensor.Tensor) error) error {
	own := make([]tensor.Tensor, len(g.inputs)+len(g.steps))
	for i, in := range g.inputs {
		own[i] = slots[in.slot]
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
