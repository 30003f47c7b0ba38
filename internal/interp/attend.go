package interp

import (
	"math"
	"slices"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/kernel/attention"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// attend is an attention whose queries, keys and values are contractions that nothing else reads,
// so that they can be computed head by head.
type attend struct {
	of     [3]attention.Product // without addresses
	inputs [3][2]int            // inputs of the group: the operands of each product
	params attention.Params[float32]
	batch  []attention.ProductBatch
	out    shape.Shape
}

// attendNodes is the number of nodes that an attend replaces.
const attendNodes = 4

// attention turns the nodes from i on into one step if they are three contractions and the
// attention of their results, with sizes for which that pays off, and reports false otherwise.
func (p *Plan) attention(l *layout, i int, readers [][]int) (step, bool) {
	j := i + attendNodes
	if j > len(p.nodes) || p.nodes[j-1].Op.Name != "attention" {
		return step{}, false
	}
	nodes := p.nodes[i:j]
	last := nodes[attendNodes-1]
	b := newBuilder(l, false)
	a := &attend{}
	call := &op.Call{Op: last.Op, Args: last.Args}
	named, err := ops.LabelsOfAttention(call)
	labels := [4][]int{named.Query, named.Key, named.Value, named.Result}
	a.out = last.Outs[0].Shape()
	r, ok := headOf(labels)
	if err != nil || !ok || call.Has(3) || call.Has(4) || call.Bool(12) || !a.out.IsFull() || labels[3][len(labels[3])-1] != r.width {
		return step{}, false
	}
	outSteps := stepsOf(labels[3], a.out)
	size := map[int]int{}
	for k, l := range labels[3] {
		size[l] = a.out.Dim(k)
		if l != r.query && l != r.width {
			r.batch = append(r.batch, l)
			a.batch = append(a.batch, attention.ProductBatch{Size: a.out.Dim(k), Out: outSteps[l]})
		}
	}
	for k := range a.of {
		v, ok := last.Args[k].(*graph.Value)
		if !ok || v.DType() != dtype.Float32 || !v.Shape().IsFull() || !slices.Contains(nodes[:attendNodes-1], v.Node()) ||
			len(readers[v.ID()]) != 1 {
			return step{}, false
		}
		for x, l := range labels[k] {
			n := v.Shape().Dim(x)
			if old, ok := size[l]; ok && old != n {
				return step{}, false
			}
			size[l] = n
		}
		row, col := r.matrix(k)
		if !a.product(b, k, v.Node(), labels[k], row, col, r.batch) {
			return step{}, false
		}
	}
	a.params = attention.Params[float32]{
		Queries: size[r.query], Keys: size[r.key], Depth: size[r.depth], Width: size[r.width],
		OutRow: outSteps[r.query], Scale: float32(call.Float(11)),
	}
	if a.params.Scale == 0 {
		a.params.Scale = float32(1 / math.Sqrt(float64(max(1, a.params.Depth))))
	}
	if !attention.WorthProducts(a.params.Queries, a.params.Keys, a.params.Depth, a.params.Width) {
		return step{}, false
	}
	return b.whole(p, i, j, a), true
}

// head assigns the labels of attention to their roles.
type head struct {
	query, key, depth, width int
	batch                    []int // in the order of the result
}

// headOf determines the roles of the labels of queries, keys, values and the result.
func headOf(labels [4][]int) (h head, ok bool) {
	in := map[int]int{}
	for i, list := range labels {
		for _, l := range list {
			in[l] |= 1 << i
		}
	}
	found := 0
	for _, l := range slices.Concat(labels[0], labels[2]) {
		switch in[l] {
		case 0b1001:
			h.query = l
		case 0b0011:
			h.depth = l
		case 0b0110:
			h.key = l
		case 0b1100:
			h.width = l
		default:
			continue
		}
		found++
	}
	return h, found == 4
}

// matrix returns the labels of the rows and columns of queries (0), keys (1) or values (2).
func (h head) matrix(k int) (row, col int) {
	switch k {
	case 0:
		return h.query, h.depth
	case 1:
		return h.key, h.depth
	}
	return h.key, h.width
}

// product records that operand k is a matrix product for each head, and reports whether it is one:
// its rows must come from one operand and its columns from the other, with one axis summed over.
func (a *attend) product(b *builder, k int, n *graph.Node, labels []int, row, col int, batch []int) bool {
	if n.Op.Name != "contract" {
		return false
	}
	c := &op.Call{Op: n.Op, Args: n.Args}
	names := map[int]int{} // labels of the attention, by those of the contraction
	for i, l := range c.Ints(4) {
		names[l] = labels[i]
	}
	const sum = -1 // no label is negative
	var steps [2]map[int]int
	for i := range steps {
		v, ok := n.Args[i].(*graph.Value)
		if !ok || !v.Shape().IsFull() {
			return false
		}
		own := slices.Clone(c.Ints(2 + i))
		sums := 0
		for x, l := range own {
			name, ok := names[l]
			if !ok {
				name = sum
				sums++
				a.of[k].K = v.Shape().Dim(x)
			}
			own[x] = name
		}
		if sums != 1 {
			return false
		}
		steps[i] = stepsOf(own, v.Shape())
		a.inputs[k][i] = b.input(v, elements)
	}
	first, second := 0, 1
	if _, ok := steps[0][row]; !ok {
		first, second = 1, 0
	}
	s, t := steps[first], steps[second]
	_, hasRow := s[row]
	_, hasCol := t[col]
	_, other := t[row]
	_, another := s[col]
	if !hasRow || !hasCol || other || another {
		return false
	}
	a.inputs[k] = [2]int{a.inputs[k][first], a.inputs[k][second]}
	a.of[k].ARow, a.of[k].ACol, a.of[k].BRow, a.of[k].BCol = s[row], s[sum], t[sum], t[col]
	for i, l := range batch {
		a.batch[i].A[k], a.batch[i].B[k] = s[l], t[l] // 0 if an operand lacks the label
	}
	return true
}

// run computes the result. It reports false if operands are views; the nodes then run one by one.
func (a *attend) run(g *group, slots []tensor.Tensor) bool {
	of := a.of
	for k := range of {
		x, y := elementsOf(slots[g.inputs[a.inputs[k][0]].slot]), elementsOf(slots[g.inputs[a.inputs[k][1]].slot])
		if x == nil || y == nil {
			return false
		}
		of[k].A, of[k].B = x, y
	}
	out := tensor.Uninit(dtype.Float32, a.out)
	p := a.params
	p.Out = tensor.Elems[float32](out)
	attention.ForwardOf(p, of, a.batch...)
	slots[g.outs[0]] = out
	return true
}

// elementsOf returns the elements of a tensor that is contiguous in memory, or nil.
func elementsOf(t tensor.Tensor) []float32 {
	d, ok := t.(*tensor.Dense)
	if !ok || d.DType() != dtype.Float32 || !d.IsContiguous() {
		return nil
	}
	return tensor.Elems[float32](d)
}

// stepsOf returns the strides of the axes by label.
func stepsOf(labels []int, s shape.Shape) map[int]int {
	steps := map[int]int{}
	step := 1
	for i := len(labels) - 1; i >= 0; i-- {
		steps[labels[i]] = step
		step *= s.Dim(i)
	}
	return steps
}
