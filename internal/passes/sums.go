package passes

import (
	"slices"

	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Sums moves sums of products out of scans. If a scan only accumulates products of values of each round
// in its carry,
//
//	sum ← sum + a·b
//
// as the gradients of a recurrence's weights do, the products of all rounds are one product that also
// sums over the rounds: one large product instead of many small ones, each of which is added to the sum
// in memory.
func Sums(g *graph.Graph) (*graph.Graph, error) {
	if !hasOp(g, "control.scan") {
		return g, nil
	}
	return graph.Rebuild(g, func(n *graph.Node, c *op.Call) ([]tensor.Tensor, error) {
		if n.Op.Name != "control.scan" {
			return nil, nil
		}
		return withoutSums(c)
	})
}

// gathered is a carry that accumulates the products of operands.
type gathered struct {
	carry int
	contraction
}

// withoutSums returns the results of a scan with its sums computed by products after it, or nil if
// it has none.
func withoutSums(c *op.Call) ([]tensor.Tensor, error) {
	carry, xs, body := c.Int(1), c.Int(2), c.Args[3].(*graph.Graph)
	sums := sumsOf(body, carry, xs, c.Args[6] != nil)
	if len(sums) == 0 {
		return nil, nil
	}
	results := len(body.Outputs)
	wide, values, err := same(body)
	if err != nil {
		return nil, err
	}
	// at finds the rows of a value of all rounds, among the inputs or the results.
	inputs := c.Tensors(0)
	at := func(v *graph.Value, out []tensor.Tensor) tensor.Tensor {
		if i := slices.Index(body.Params, v); i >= carry && i < carry+xs {
			return inputs[i]
		}
		i := carry + slices.Index(wide.Outputs[carry:], values[v])
		if i < carry {
			i = len(wide.Outputs)
			wide.Outputs = append(wide.Outputs, values[v])
		}
		if out == nil {
			return nil
		}
		return out[i]
	}
	for _, s := range sums {
		wide.Outputs[s.carry] = wide.Params[s.carry]
		at(s.a, nil)
		at(s.b, nil)
	}
	slim, err := DCE(wide)
	if err != nil {
		return nil, err
	}
	out := op.EvalN(c.Op, slices.Concat([]any{c.Args[0], carry, xs, slim}, c.Args[4:])...)
	rounds := func(v *graph.Value) tensor.Tensor { return at(v, out) }
	for _, s := range sums {
		al, bl := s.al, s.bl
		if c.Args[6] == nil {
			fresh := slices.Max(slices.Concat(al, bl)) + 1
			al, bl = append([]int{fresh}, al...), append([]int{fresh}, bl...)
		}
		all := ops.Contract(rounds(s.a), rounds(s.b), al, bl, s.out)
		out[s.carry] = ops.Add(out[s.carry], all)
	}
	return out[:results], nil
}

// sumsOf returns the carries that are only added to: products of two values that differ in each round and
// are not known to be larger than the sum. If rounds process items of several rows, the sum over these is
// included.
func sumsOf(body *graph.Graph, carry, xs int, ofRows bool) (out []gathered) {
	uses := usesOf(body)
	anew := func(v *graph.Value) bool {
		_, constant := op.Known(v)
		i := slices.Index(body.Params, v)
		return !constant && i < carry+xs
	}
	for i, sum := range body.Params[:carry] {
		n := body.Outputs[i].Node()
		if n == nil || n.Op.Name != "add" || uses[sum.ID()] != 1 || uses[body.Outputs[i].ID()] != 1 {
			continue
		}
		x, y := n.Args[0], n.Args[1]
		if y == any(sum) {
			x, y = y, x
		}
		product, ok := y.(*graph.Value)
		if x != any(sum) || !ok || !sameSpec(product, sum) {
			continue
		}
		k, ok := labelled(product.Node())
		if !ok || !anew(k.a) || !anew(k.b) {
			continue
		}
		if ofRows && k.al[0] == k.bl[0] && !slices.Contains(k.out, k.al[0]) || !ofRows && k.full() && k.a.Shape().Size()+k.b.Shape().Size() < 2*sum.Shape().Size() {
			out = append(out, gathered{i, k})
		}
	}
	return out
}

// same returns a copy of g, and the values in it that correspond to those of g.
func same(g *graph.Graph) (*graph.Graph, map[*graph.Value]*graph.Value, error) {
	h, err := graph.Rebuild(g, func(*graph.Node, *op.Call) ([]tensor.Tensor, error) { return nil, nil })
	if err != nil {
		return nil, nil, err
	}
	values := map[*graph.Value]*graph.Value{}
	for i, p := range g.Params {
		values[p] = h.Params[i]
	}
	for i, n := range g.Nodes {
		for k, v := range n.Outs {
			values[v] = h.Nodes[i].Outs[k]
		}
	}
	return h, values, nil
}
