package passes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// A Pass returns a graph that computes what g computes.
type Pass struct {
	Name string
	Run  func(g *graph.Graph) (*graph.Graph, error)
}

// Default is the passes of a function's graph in their order.
var Default = []Pass{
	{"customs", Customs},
	{"ones", Ones},
	{"fold", Fold},
	{"simplify", Simplify},
	{"rows", Rows},
	{"activations", Activations},
	{"sink", SinkBroadcasts},
	{"layouts", Layouts},
	{"transposes", FoldTransposes},
	{"cse", CSE},
	{"attention", Attention},
	{"dce", DCE},
	{"branches", Branches},
}

// Apply runs passes one after the other, on the regions inside the graph too.
func Apply(g *graph.Graph, list []Pass) (*graph.Graph, error) {
	g, err := inRegions(g, list)
	if err != nil {
		return nil, err
	}
	for _, p := range list {
		if g, err = p.Run(g); err != nil {
			return nil, fmt.Errorf("pass %s: %w", p.Name, err)
		}
	}
	return g, g.Verify()
}

// has reports whether some node of the graph is of interest, so that a pass which
// finds nothing to do costs a look and not another graph.
func has(g *graph.Graph, interesting func(n *graph.Node) bool) bool {
	return slices.ContainsFunc(g.Nodes, interesting)
}

// hasOp is has for operations by name.
func hasOp(g *graph.Graph, names ...string) bool {
	return has(g, func(n *graph.Node) bool { return slices.Contains(names, n.Op.Name) })
}

func inRegions(g *graph.Graph, list []Pass) (*graph.Graph, error) {
	if !has(g, func(n *graph.Node) bool { return len(n.Regions()) > 0 }) {
		return g, nil
	}
	return graph.Rebuild(g, func(n *graph.Node, c *op.Call) ([]tensor.Tensor, error) {
		list := list
		if lateGradients(n) {
			list = without(list, "customs")
		}
		for i, a := range c.Args {
			switch a := a.(type) {
			case *graph.Graph:
				r, err := Apply(a, list)
				if err != nil {
					return nil, err
				}
				c.Args[i] = r
			case []*graph.Graph:
				rs := make([]*graph.Graph, len(a))
				for k, x := range a {
					var err error
					if rs[k], err = Apply(x, list); err != nil {
						return nil, err
					}
				}
				c.Args[i] = rs
			}
		}
		return nil, nil
	})
}

// foldLimit is the largest result, in elements, that is computed ahead of time.
const foldLimit = 1 << 16

// Fold computes operations on constants.
func Fold(g *graph.Graph) (*graph.Graph, error) {
	if !has(g, onConstants) {
		return g, nil
	}
	return graph.Rebuild(g, func(n *graph.Node, c *op.Call) ([]tensor.Tensor, error) {
		values := c.Values()
		if n.Op.Stateful || len(n.Regions()) > 0 || len(values) == 0 {
			return nil, nil
		}
		for _, o := range n.Outs {
			if size := o.Shape().Size(); size > foldLimit {
				return nil, nil
			}
		}
		for i, v := range values {
			t, ok := op.Known(v)
			if !ok {
				return nil, nil
			}
			values[i] = t
		}
		out, err := c.WithValues(values).Run()
		if err != nil {
			return nil, nil // it fails, or not, where it runs
		}
		for _, t := range out {
			if t.Shape().Size() > foldLimit {
				return nil, nil
			}
		}
		return out, nil
	})
}

// onConstants reports whether a node has operands, all of them known.
func onConstants(n *graph.Node) bool {
	known, operands := true, false
	n.EachInput(func(v *graph.Value) {
		_, ok := v.ConstValue()
		known, operands = known && ok, true
	})
	return known && operands
}

// CSE computes what is computed twice once: operations with the same arguments.
func CSE(g *graph.Graph) (*graph.Graph, error) {
	if !repeats(g) {
		return g, nil
	}
	seen := map[string][]tensor.Tensor{}
	return graph.Rebuild(g, func(n *graph.Node, c *op.Call) ([]tensor.Tensor, error) {
		key, ok := keyOf(n, c)
		if !ok {
			return nil, nil
		}
		if out, ok := seen[key]; ok {
			return out, nil
		}
		out, err := c.DoTensors()
		if err != nil {
			return nil, err
		}
		seen[key] = out
		return out, nil
	})
}

// repeats reports whether two nodes may compute the same: they are of the same
// operation and read the same first value.
func repeats(g *graph.Graph) bool {
	type start struct {
		op *op.Op
		of any // a value, or the elements of a constant
	}
	seen := make(map[start]bool, len(g.Nodes))
	for _, n := range g.Nodes {
		s := start{op: n.Op}
		n.EachInput(func(v *graph.Value) {
			if s.of != nil {
				return
			}
			if s.of = v; v.Node() == nil {
				if t, ok := v.ConstValue(); ok {
					s.of = constKey(t)
				}
			}
		})
		if seen[s] {
			return true
		}
		seen[s] = true
	}
	return false
}

func keyOf(n *graph.Node, c *op.Call) (string, bool) {
	if n.Op.Stateful {
		return "", false
	}
	var b strings.Builder
	b.WriteString(n.Op.Name)
	value := func(v tenon.Value) {
		x := v.(*graph.Value)
		if k, ok := x.ConstValue(); ok {
			b.WriteString(constKey(k))
			return
		}
		fmt.Fprintf(&b, " %d", x.ID())
	}
	for _, a := range c.Args {
		b.WriteByte(';')
		switch a := a.(type) {
		case *graph.Value:
			value(a)
		case []tenon.Value:
			for _, x := range a {
				value(x)
			}
		default:
			e, ok := op.EncodeAttr(a)
			if !ok {
				return "", false
			}
			b.WriteString(tenon.EncodingText(e))
		}
	}
	return b.String(), true
}

// constKey returns the same for constants that are the same: small ones by their elements,
// others by what holds them.
func constKey(t tensor.Tensor) string {
	const small = 64 // bytes
	if d, ok := t.(*tensor.Dense); ok && d.IsContiguous() && d.Len()*d.DType().Size() <= small {
		return fmt.Sprintf(" %v%v%x", d.DType(), d.Shape(), d.Bytes())
	}
	return fmt.Sprintf(" c%p", t)
}

// DCE drops what no output needs and that has no effect.
func DCE(g *graph.Graph) (*graph.Graph, error) {
	live := make([]bool, g.NumValues())
	for _, o := range g.Outputs {
		live[o.ID()] = true
	}
	keep := map[*graph.Node]bool{}
	for i := len(g.Nodes) - 1; i >= 0; i-- {
		n := g.Nodes[i]
		needed := n.Op.Stateful
		for _, o := range n.Outs {
			needed = needed || live[o.ID()]
		}
		if !needed {
			continue
		}
		keep[n] = true
		n.EachInput(func(v *graph.Value) { live[v.ID()] = true })
	}
	if len(keep) == len(g.Nodes) {
		return g, nil
	}
	return graph.Rebuild(g, func(n *graph.Node, c *op.Call) ([]tensor.Tensor, error) {
		if keep[n] {
			return nil, nil
		}
		return []tensor.Tensor{}, nil
	})
}

// Simplify applies identities that hold for every element, NaN and infinities
// included: x+0 is not one of them for -0, and so on.
func Simplify(g *graph.Graph) (*graph.Graph, error) {
	if !has(g, simple) {
		return g, nil
	}
	return graph.Rebuild(g, func(n *graph.Node, c *op.Call) ([]tensor.Tensor, error) {
		if len(n.Outs) == 0 { // a branch or loop over values without tensors
			return nil, nil
		}
		out := simplified(c)
		if out == nil || !sameSpec(out, n.Outs[0]) {
			if out = unviewed(c, n.Outs[0]); out == nil {
				return nil, nil
			}
		}
		if v, ok := out.(*graph.Value); ok && v.Node() != nil { // made by simplifying
			if in := unviewed(&op.Call{Op: v.Node().Op, Args: v.Node().Args}, v); in != nil {
				out = in
			}
		}
		return []tensor.Tensor{out}, nil
	})
}

// simple reports whether a node may be one that a rule takes out: of an arithmetic
// operation, it is where an operand is known.
func simple(n *graph.Node) bool {
	known := !n.Op.IsBinaryElementwise()
	if !known {
		n.EachInput(func(v *graph.Value) {
			_, ok := v.ConstValue()
			known = known || ok
		})
	}
	return known && ruleOf(n.Op) != nil
}

func sameSpec(t tensor.Tensor, old *graph.Value) bool {
	return t.DType() == old.DType() && t.Shape().Equal(old.Shape())
}

// A rule returns what a call comes to, if it knows a simpler form, and nil otherwise. The
// caller checks that element type and shape have not changed.
type rule = func(c *op.Call) tensor.Tensor

func simplified(c *op.Call) tensor.Tensor {
	if r := ruleOf(c.Op); r != nil {
		return r(c)
	}
	return nil
}

// ruleOf returns the rule of an operation: one of its name, or what its statement says.
func ruleOf(o *op.Op) rule {
	if r := rules[o.Name]; r != nil || o.Results != 1 || o.By != op.ByAxis || o.Checks || o.Fills {
		return r
	}
	switch moves := o.Moves == op.First; {
	case o.Axes == op.Map && moves && o.Control == 0:
		return func(c *op.Call) tensor.Tensor { return c.Tensor(0) }
	case moves && (o.Axes == op.Regroup || o.Axes == op.Broadcast || o.Axes == op.Insert || o.Axes == op.Remove):
		return unmoved
	case o.Axes == op.Permute:
		return cancelled
	case o.Axes == op.Join, o.Axes == op.Stack:
		return joinedAlone
	case o.Axes == op.Reduce && o.Places == 0 && o.Monoid != nil && (o.Monoid.Picks || o.Monoid == op.Products):
		return ofOne
	}
	return nil
}

var rules = map[string]rule{
	"mul": func(c *op.Call) tensor.Tensor {
		switch x, y := c.Tensor(0), c.Tensor(1); {
		case isFilled(y, 1):
			return x
		case isFilled(x, 1):
			return y
		}
		return nil
	},
	"div": func(c *op.Call) tensor.Tensor {
		if isFilled(c.Tensor(1), 1) {
			return c.Tensor(0)
		}
		return nil
	},
	"sub": func(c *op.Call) tensor.Tensor {
		if isFilled(c.Tensor(1), 0) && !c.Tensor(0).DType().IsComplex() {
			return c.Tensor(0)
		}
		return nil
	},
	"add": func(c *op.Call) tensor.Tensor {
		switch x, y := c.Tensor(0), c.Tensor(1); {
		case isFilled(y, 0) && x.DType().IsInteger():
			return x
		case isFilled(x, 0) && y.DType().IsInteger():
			return y
		}
		return nil
	},
	"pow": func(c *op.Call) tensor.Tensor {
		switch x, y := c.Tensor(0), c.Tensor(1); {
		case isFilled(y, 1):
			return x
		case isFilled(y, 2):
			return ops.Mul(x, x)
		}
		return nil
	},
	"neg": twice, "conj": twice, "logical_not": twice, "bitwise_not": twice,
	"cast": func(c *op.Call) tensor.Tensor {
		if c.Tensor(0).DType() == c.DType(1) {
			return c.Tensor(0)
		}
		return nil
	},
}

// twice is for operations that done twice change nothing.
func twice(c *op.Call) tensor.Tensor {
	if in := producer(c.Tensor(0), c.Op.Name); in != nil {
		return in.Args[0].(tensor.Tensor)
	}
	return nil
}

// unmoved is for operations that change nothing but the shape. Sizes that are not known may
// differ under equal Specs.
func unmoved(c *op.Call) tensor.Tensor {
	if c.Tensor(0).Shape().IsFull() {
		return c.Tensor(0)
	}
	return nil
}

// joinedAlone is for lists of one tensor.
func joinedAlone(c *op.Call) tensor.Tensor {
	l, ok := c.Args[0].([]tenon.Value)
	switch {
	case !ok || len(l) != 1:
		return nil
	case c.Op.Axes == op.Stack:
		return ops.ExpandDims(l[0], c.Int(1))
	}
	return l[0].(tensor.Tensor)
}

// ofOne returns the reduction of axes of size 1, by a function that leaves one element as
// it is, or nil where an axis is longer or not known to be that short.
func ofOne(c *op.Call) tensor.Tensor {
	x := c.Tensor(0)
	s := x.Shape()
	if !s.HasRank() {
		return nil
	}
	axes, err := c.Axes(s.Rank())
	if err != nil || len(axes) == 0 {
		return nil
	}
	for _, a := range axes {
		if s.Dim(a) != 1 {
			return nil
		}
	}
	if keep, _ := c.Attr("keepdims").(bool); keep {
		return x
	}
	return ops.Squeeze(x, axes...)
}

// producer returns the node that computes t if it is of a given operation.
func producer(t tensor.Tensor, name string) *graph.Node {
	v, ok := t.(*graph.Value)
	if !ok || v.Node() == nil || v.Node().Op.Name != name {
		return nil
	}
	return v.Node()
}

// isFilled reports whether t is a constant all of whose elements are k.
func isFilled(t tensor.Tensor, k float64) bool {
	c, ok := op.Known(t)
	if !ok {
		return false
	}
	d, ok := c.(*tensor.Dense)
	if !ok || d.Len() == 0 || d.Len() > 16 || d.DType() == dtype.Bool {
		return false
	}
	for _, x := range tensor.Data[float64](ops.Cast(d, dtype.Float64)) {
		if x != k {
			return false
		}
	}
	return !d.DType().IsComplex()
}

// perm returns the order of axes of a transposition of a tensor of known rank.
func perm(n *op.Call) []int {
	p := n.Ints(1)
	if p != nil {
		return p
	}
	r := n.Tensor(0).Shape().Rank()
	for i := range r {
		p = append(p, r-1-i)
	}
	return p
}

// cancelled composes a transposition with the one before it.
func cancelled(c *op.Call) tensor.Tensor {
	if !c.Tensor(0).Shape().HasRank() {
		return nil
	}
	p := perm(c)
	if isIdentity(p) {
		return c.Tensor(0)
	}
	in := producer(c.Tensor(0), "transpose")
	if in == nil {
		return nil
	}
	q := perm(&op.Call{Op: in.Op, Args: in.Args})
	both := make([]int, len(p))
	for i, a := range p {
		both[i] = q[a]
	}
	if isIdentity(both) {
		return in.Args[0].(tensor.Tensor)
	}
	return ops.Transpose(in.Args[0], both...)
}

func isIdentity(p []int) bool {
	for i, a := range p {
		if a != i {
			return false
		}
	}
	return true
}

// SinkBroadcasts takes broadcast_to away from operands of elementwise operations
// that broadcast by themselves.
func SinkBroadcasts(g *graph.Graph) (*graph.Graph, error) {
	if !hasOp(g, "broadcast_to") {
		return g, nil
	}
	return graph.Rebuild(g, func(n *graph.Node, c *op.Call) ([]tensor.Tensor, error) {
		if n.Op.Class != op.BinaryElementwise && n.Op.Class != op.TernaryElementwise {
			return nil, nil
		}
		values := c.Values()
		for i, v := range values {
			if in := producer(v.(tensor.Tensor), "broadcast_to"); in != nil {
				trial := append([]tenon.Value(nil), values...)
				trial[i] = in.Args[0].(tenon.Value)
				specs, err := c.WithValues(trial).Infer()
				if err == nil && tenon.Equal(specs[0], n.Outs[0].Spec()) && (n.Outs[0].Shape().IsFull() || otherHasShape(g, n, i)) {
					values = trial
				}
			}
		}
		out, err := c.WithValues(values).Do()
		if err != nil {
			return nil, err
		}
		return []tensor.Tensor{out[0].(tensor.Tensor)}, nil
	})
}

// otherHasShape reports whether an operand of a node, other than the given one, has the
// result's shape in every run, though it is not known yet.
func otherHasShape(g *graph.Graph, n *graph.Node, except int) bool {
	for k, v := range n.Inputs() {
		if k != except && producer(v, "broadcast_to") == nil && g.Sizes().SameShape(v, n.Outs[0]) {
			return true
		}
	}
	return false
}

// FoldTransposes lets matrix products read transposed operands where they are.
func FoldTransposes(g *graph.Graph) (*graph.Graph, error) {
	if !hasOp(g, "transpose") {
		return g, nil
	}
	return graph.Rebuild(g, func(n *graph.Node, c *op.Call) ([]tensor.Tensor, error) {
		if n.Op.Name != "matmul" {
			return nil, nil
		}
		a, ta := untransposed(c.Tensor(0), c.Bool(2))
		b, tb := untransposed(c.Tensor(1), c.Bool(3))
		if ta == c.Bool(2) && tb == c.Bool(3) {
			return nil, nil
		}
		return []tensor.Tensor{ops.MatMulT(a, b, ta, tb)}, nil
	})
}

func untransposed(t tensor.Tensor, flag bool) (tensor.Tensor, bool) {
	in := producer(t, "transpose")
	if in == nil || !t.Shape().HasRank() || t.Shape().Rank() < 2 {
		return t, flag
	}
	p := perm(&op.Call{Op: in.Op, Args: in.Args})
	r := len(p)
	if p[r-1] != r-2 || p[r-2] != r-1 || !isIdentity(p[:r-2]) {
		return t, flag
	}
	return in.Args[0].(tensor.Tensor), !flag
}

// Branches moves what only one branch of a choice needs into that branch. A trace
// records operations on values from outside of a branch where those are.
func Branches(g *graph.Graph) (*graph.Graph, error) {
	return graph.Sink(g, func(n *graph.Node) (inputs, regions int, ok bool) {
		return 1, 2, n.Op.Name == "control.switch"
	})
}

// Rematerialise computes elementwise results again where they are needed long after they
// were, as by gradients, if what they are computed from is there still. Their memory is
// free in between. It is for functions that ask for it: time goes up.
func Rematerialise(g *graph.Graph) (*graph.Graph, error) {
	const far = 8 // nodes
	return graph.Rematerialise(g, far, func(n *graph.Node) bool {
		return n.Op.IsElementwise() && n.Op.Block != nil && (!n.Outs[0].Shape().IsFull() || n.Outs[0].Shape().Size() >= 1<<10)
	})
}
