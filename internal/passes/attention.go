package passes

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Attention replaces a softmax of the contraction of queries and keys that is contracted
// with values, and its gradient, by one operation each. These keep a block of scores in the
// cache where the separate operations write all of them to memory. If scores, softmax or
// their gradients are used elsewhere, they are left alone.
func Attention(g *graph.Graph) (*graph.Graph, error) {
	if !hasOp(g, "softmax") {
		return g, nil
	}
	g, err := DCE(g) // an unused node would count as a use of the scores
	if err != nil {
		return nil, err
	}
	u := usersOf(g)
	found := map[*graph.Node]*attending{}
	for _, n := range g.Nodes {
		if a := u.attention(n); a != nil {
			for _, x := range a.results {
				found[x.node] = a
			}
		}
	}
	if len(found) == 0 {
		return g, nil
	}
	operands := contractedOperands(found)
	now := map[*graph.Value]tenon.Value{} // the replacements of operands
	return graph.Rebuild(g, func(n *graph.Node, c *op.Call) ([]tensor.Tensor, error) {
		old, values := n.Inputs(), c.Values()
		for i, v := range old {
			now[v] = values[i]
		}
		a := found[n]
		if a == nil {
			if k, ok := operands[n]; ok {
				return []tensor.Tensor{ops.Contract(now[k.a], now[k.b], k.al, k.bl, k.out)}, nil
			}
			return nil, nil
		}
		out, err := a.result(n, now)
		if err != nil || out == nil {
			return nil, err
		}
		return []tensor.Tensor{out}, nil
	})
}

// contractedOperands returns the contractions that compute the queries, keys and values of
// attention, if they are written as other operations: the plan of a graph computes them
// together with the attention, and recognises them by a single name.
func contractedOperands(found map[*graph.Node]*attending) map[*graph.Node]contraction {
	out := map[*graph.Node]contraction{}
	for _, a := range found {
		for _, v := range []*graph.Value{a.q, a.k, a.v} {
			n := v.Node()
			if n != nil && n.Op.Name == "mul" { // by a scale, which becomes part of the attention
				for _, x := range n.Inputs() {
					if x.Shape().Equal(v.Shape()) {
						n = x.Node()
					}
				}
			}
			if k, ok := contractionOf(n); ok && n.Op.Name != "contract" {
				out[n] = k
			}
		}
	}
	return out
}

// users holds the nodes that read each value, and the number of times it is an output.
type users struct {
	nodes   map[*graph.Value][]*graph.Node
	outputs map[*graph.Value]bool
}

func usersOf(g *graph.Graph) users {
	u := users{map[*graph.Value][]*graph.Node{}, map[*graph.Value]bool{}}
	for _, n := range g.Nodes {
		n.EachInput(func(v *graph.Value) { u.nodes[v] = append(u.nodes[v], n) })
	}
	for _, v := range g.Outputs {
		u.outputs[v] = true
	}
	return u
}

// only reports whether v is read by exactly that many nodes and is not an output.
func (u users) only(v *graph.Value, nodes int) bool {
	return len(u.nodes[v]) == nodes && !u.outputs[v]
}

// An attending is a softmax with the nodes around it.
type attending struct {
	q, k, v, g     *graph.Value
	ql, kl, vl, gl []int
	depth, width   int
	query, key     int
	scores         []int // labels of the scores
	results        []attended
	gradients      []tensor.Tensor // set once they have been computed
	failed         bool
}

// attended is a node that is replaced by a result of the joined operation: the result of attention
// (3), or the gradient of queries, keys or values (0, 1, 2), with its labels.
type attended struct {
	node   *graph.Node
	which  int
	labels []int
}

const widthLabel = 1 << 20 // larger than any other label

// attention returns the nodes that belong to a softmax, or nil if they cannot be joined.
func (u users) attention(n *graph.Node) *attending {
	if n.Op.Name != "softmax" || n.Outs[0].DType() != dtype.Float32 {
		return nil
	}
	in, ok := n.Args[0].(*graph.Value)
	if !ok || !u.only(in, 1) || u.outputs[n.Outs[0]] {
		return nil
	}
	k, ok := contractionOf(in.Node())
	if !ok {
		return nil
	}
	axis := n.Args[1].(int)
	if axis < 0 {
		axis += len(k.out)
	}
	a := &attending{q: k.a, ql: k.al, k: k.b, kl: k.bl, scores: k.out, key: k.out[axis], width: widthLabel}
	if slices.Contains(a.ql, a.key) {
		a.q, a.ql, a.k, a.kl = a.k, a.kl, a.q, a.ql
	}
	depth, query, keys := difference(a.ql, a.scores), difference(a.ql, a.kl), difference(a.kl, a.ql)
	if len(depth) != 1 || len(query) != 1 || len(keys) != 1 || keys[0] != a.key || slices.Max(slices.Concat(a.ql, a.kl)) >= widthLabel {
		return nil
	}
	a.depth, a.query = depth[0], query[0]
	const least, most = 8, 1024 // numbers of queries and keys; with more keys, a gradient is faster with the scores in memory
	if a.size(a.query) < least || a.size(a.key) < least {
		return nil
	}
	for _, x := range u.nodes[n.Outs[0]] {
		if x.Op.Name == "softmax_grad" {
			if a.size(a.key) > most || !u.gradient(a, n, x) {
				return nil
			}
		} else if !a.values(n, x) {
			return nil
		}
	}
	values, scores := false, false // whether their gradients are needed
	for _, x := range a.results {
		values, scores = values || x.which == 2, scores || x.which < 2
	}
	if len(a.results) == 0 || a.v == nil || (values || scores) && a.g == nil || values && !scores {
		return nil
	}
	return a
}

// size returns the size of an axis of queries or keys.
func (a *attending) size(label int) int {
	if i := slices.Index(a.ql, label); i >= 0 {
		return a.q.Shape().Dim(i)
	}
	return a.k.Shape().Dim(slices.Index(a.kl, label))
}

// named translates the labels of a contraction with the scores, or with a tensor that has their
// axes and the labels own; labels of other axes become rest.
func (a *attending) named(own, other, out []int, rest int) (otherNames, outNames []int, ok bool) {
	names := namesOf(own, a.scores)
	free := difference(other, own)
	if len(free) != 1 {
		return nil, nil, false
	}
	names[free[0]] = rest
	return renamed(other, names), renamed(out, names), true
}

// values records a contraction of the weights, either with the values or with the cotangent.
func (a *attending) values(softmax, n *graph.Node) bool {
	k, ok := contractionOf(n)
	if !ok {
		return false
	}
	other, labels, own, ok := k.operand(softmax.Outs[0])
	if !ok {
		return false
	}
	names, out, ok := a.named(own, labels, k.out, a.width)
	switch {
	case !ok || !slices.Contains(out, a.width):
		return false
	case a.hasBatch(names, a.key) && a.hasBatch(out, a.query):
		a.results = append(a.results, attended{n, 3, out})
		return a.take(&a.v, &a.vl, other, names)
	case a.hasBatch(names, a.query) && a.hasBatch(out, a.key):
		a.results = append(a.results, attended{n, 2, out})
		return a.take(&a.g, &a.gl, other, names)
	}
	return false
}

// hasBatch reports whether labels are those of the batch, the width and one more.
func (a *attending) hasBatch(labels []int, more int) bool {
	if len(labels) != len(a.scores) {
		return false
	}
	for _, l := range a.scores {
		want := l == more || l != a.query && l != a.key
		if slices.Contains(labels, l) != want {
			return false
		}
	}
	return true
}

// take sets an operand, or reports whether it is the same as before.
func (a *attending) take(v **graph.Value, labels *[]int, is *graph.Value, names []int) bool {
	if *v == nil {
		*v, *labels = is, names
	}
	return *v == is && slices.Equal(*labels, names)
}

// gradient records the gradient of the softmax: the contraction of the cotangent with the values
// that it comes from, and those with queries and with keys that it feeds.
func (u users) gradient(a *attending, softmax, n *graph.Node) bool {
	ct, ok := n.Args[1].(*graph.Value)
	if !ok || ct == softmax.Outs[0] || n.Args[0] != any(softmax.Outs[0]) || !u.only(ct, 1) || u.outputs[n.Outs[0]] || axisOf(n, 2) != axisOf(softmax, 1) {
		return false
	}
	k, ok := contractionOf(ct.Node())
	if !ok || len(k.out) != len(a.scores) {
		return false
	}
	names := namesOf(k.out, a.scores)
	width := difference(k.al, k.out)
	if len(width) != 1 || !slices.Contains(k.bl, width[0]) {
		return false
	}
	names[width[0]] = a.width
	g, v, gl, vl := k.a, k.b, renamed(k.al, names), renamed(k.bl, names)
	if slices.Contains(gl, a.key) {
		g, v, gl, vl = v, g, vl, gl
	}
	if !a.hasBatch(gl, a.query) || !a.hasBatch(vl, a.key) || !a.take(&a.g, &a.gl, g, gl) || !a.take(&a.v, &a.vl, v, vl) {
		return false
	}
	for _, x := range u.nodes[n.Outs[0]] {
		k, ok := contractionOf(x)
		if !ok {
			return false
		}
		other, labels, own, ok := k.operand(n.Outs[0])
		if !ok {
			return false
		}
		names, out, ok := a.named(own, labels, k.out, a.depth)
		switch {
		case !ok:
			return false
		case other == a.k && slices.Equal(names, a.kl) && sameLabels(out, a.ql):
			a.results = append(a.results, attended{x, 0, out})
		case other == a.q && slices.Equal(names, a.ql) && sameLabels(out, a.kl):
			a.results = append(a.results, attended{x, 1, out})
		default:
			return false
		}
	}
	return true
}

// axisOf returns an axis, argument i, counted from the end.
func axisOf(n *graph.Node, i int) int {
	axis := n.Args[i].(int)
	if axis >= 0 {
		axis -= n.Outs[0].Shape().Rank()
	}
	return axis
}

func sameLabels(x, y []int) bool {
	return len(x) == len(y) && len(difference(x, y)) == 0
}

// result returns the replacement of a node, or nil if an operand is not known yet.
func (a *attending) result(n *graph.Node, now map[*graph.Value]tenon.Value) (tensor.Tensor, error) {
	var r attended
	for _, x := range a.results {
		if x.node == n {
			r = x
		}
	}
	operands := []any{now[a.q], now[a.k], now[a.v]}
	if r.which < 3 {
		operands = append(operands, now[a.g])
	}
	if a.failed = a.failed || slices.Contains(operands, nil); a.failed {
		return nil, nil
	}
	if r.which == 3 {
		scale := 1.0
		if x, by, ok := scaledBy(operands[0]); ok {
			operands[0], scale = x, by
		}
		out, err := call("attention", append(operands, a.operands(r.labels, scale)...)...)
		if err != nil {
			return nil, err
		}
		return out[0], nil
	}
	if a.gradients == nil {
		var err error
		if a.gradients, err = call("attention_grad", append(operands, a.operands(a.gl, 1)...)...); err != nil {
			return nil, err
		}
	}
	own := [][]int{a.ql, a.kl, a.vl}[r.which]
	if slices.Equal(own, r.labels) {
		return a.gradients[r.which], nil
	}
	order := make([]int, len(own))
	for i, l := range r.labels {
		order[i] = slices.Index(own, l)
	}
	out, err := call("transpose", a.gradients[r.which], order)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// operands returns the arguments of attention after queries, keys and values, for a result with the
// given labels: no mask, no row splits, and labels in which queries are 0 and keys are 1.
func (a *attending) operands(result []int, scale float64) []any {
	of := func(labels []int) []int {
		out := make([]int, len(labels))
		for i, l := range labels {
			switch l {
			case a.query:
			case a.key:
				out[i] = 1
			default:
				out[i] = l + 2
			}
		}
		return out
	}
	return []any{nil, nil, nil, of(a.ql), of(a.kl), of(a.vl), []int(nil), of(result), scale}
}

// scaledBy returns a tensor that is multiplied by a known number, and the number.
func scaledBy(v any) (x any, by float64, ok bool) {
	n := producer(v.(tensor.Tensor), "mul")
	if n == nil {
		return nil, 0, false
	}
	for i := range 2 {
		factor, x := n.Args[1-i].(tensor.Tensor), n.Args[i].(tensor.Tensor)
		if known, ok := op.Known(factor); ok && factor.Shape().IsScalar() && x.Shape().Equal(n.Outs[0].Shape()) {
			return x, float64(tensor.Item[float32](known)), true
		}
	}
	return nil, 0, false
}

// call calls an operation by name.
func call(name string, args ...any) ([]tensor.Tensor, error) {
	o, _ := op.Lookup(name)
	c, err := op.Bind(o, args, nil)
	if err != nil {
		return nil, err
	}
	return c.DoTensors()
}
