package graph

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Sizes says which dimensions of a graph's values have the same size in every run, although the
// size itself is not yet known. This is so for dimensions that are derived from the same dimension
// of a parameter, through any operations, and for dimensions that an operation requires to be
// equal, such as the numbers of rows of tensors joined side by side.
//
// Every unknown size is replaced by a distinct prime number, and the operations infer from these
// what they infer from known sizes. This also identifies sizes that are computed from others, such
// as sums and products. It is done twice with different primes.
type Sizes struct {
	found [2]map[*Value]shape.Shape
}

type sizesKey struct{}

// Sizes returns what is known about the graph's unknown sizes. It is computed once, for a complete
// graph.
func (g *Graph) Sizes() *Sizes {
	return g.Memo(sizesKey{}, func() any { return findSizes(g, nil) }).(*Sizes)
}

// SizesOf is [Graph.Sizes] given that the first axes of some parameters have the same size.
func (g *Graph) SizesOf(alike []*Value) *Sizes {
	var groups []int
	one := -1
	for _, p := range g.Params {
		for i, d := range p.spec.Shape().Dims() {
			if d >= 0 {
				continue
			}
			if groups = append(groups, len(groups)); i > 0 || !slices.Contains(alike, p) {
				continue
			}
			if one < 0 {
				one = len(groups) - 1
			}
			groups[len(groups)-1] = one
		}
	}
	return findSizes(g, groups)
}

// Same reports whether axis i of v and axis j of w have the same size in every run. It is false if
// that is not known, and for values of other graphs.
func (s *Sizes) Same(v *Value, i int, w *Value, j int) bool {
	for _, found := range s.found {
		a, ok := found[v]
		b, okToo := found[w]
		if !ok || !okToo || !a.HasRank() || !b.HasRank() || i < 0 || j < 0 || i >= a.Rank() || j >= b.Rank() || a.Dim(i) != b.Dim(j) || a.Dim(i) < 0 {
			return false
		}
	}
	return true
}

// SameShape reports whether two values have the same shape in every run.
func (s *Sizes) SameShape(v, w *Value) bool {
	if !v.Shape().HasRank() || !w.Shape().HasRank() || v.Shape().Rank() != w.Shape().Rank() {
		return false
	}
	for i := range v.Shape().Rank() {
		if !s.Same(v, i, w, i) {
			return false
		}
	}
	return true
}

// probe is a run of inference with numbers in place of unknown sizes.
type probe struct {
	graph  *Graph // values of the probe; its constants have elements
	values map[*Value]*Value
	groups []int // by unknown size, in the order of discovery: the first size that it equals, or -1-n for the known size n
	next   int
	prime  func(i int) int
}

func findSizes(g *Graph, known []int) *Sizes {
	s := &Sizes{}
	for round, first := range []int{1009, 2003} {
		groups := slices.Clone(known)
		for again := true; again; {
			p := &probe{graph: New("sizes"), values: map[*Value]*Value{}, groups: groups, prime: primesFrom(first)}
			again = p.run(g)
			groups = p.groups
			if again {
				continue
			}
			s.found[round] = make(map[*Value]shape.Shape, len(p.values))
			for v, w := range p.values {
				s.found[round][v] = w.Shape()
			}
		}
	}
	return s
}

// run infers the shapes of all nodes. It returns true if two sizes with different numbers turned
// out to be equal; then the probe starts again.
func (p *probe) run(g *Graph) (again bool) {
	for _, v := range g.Params {
		p.values[v] = p.graph.Param(p.numbered(v.spec, v.spec.Shape()))
	}
	get := func(v *Value) *Value {
		if v.konst != nil {
			return p.graph.Const(v.konst)
		}
		return p.values[v]
	}
	for _, n := range g.Nodes {
		c := callOn(n, get)
		if out := p.computed(n, c); out != nil {
			for i, o := range n.Outs {
				p.values[o] = p.graph.Const(out[i])
			}
			continue
		}
		specs, err := infer(c)
		if err != nil && !n.Op.IsElementwise() && p.unify(c) {
			return true
		}
		for i, o := range n.Outs {
			s := shape.UnknownRank
			if err == nil && len(specs) == len(n.Outs) {
				s = specs[i].(*tensor.Spec).Shape()
			}
			p.values[o] = p.graph.Param(p.numbered(o.spec, s))
		}
	}
	return false
}

// numbered returns a Spec with the inferred shape, in which sizes that are still unknown have
// numbers of their own.
func (p *probe) numbered(spec *tensor.Spec, inferred shape.Shape) *tensor.Spec {
	known := spec.Shape()
	if !known.HasRank() {
		if known = inferred; !known.HasRank() {
			return spec
		}
	}
	dims := known.Dims()
	for i, d := range dims {
		if d >= 0 {
			continue
		}
		if inferred.HasRank() && inferred.Rank() == len(dims) && inferred.Dim(i) >= 0 {
			dims[i] = inferred.Dim(i)
			continue
		}
		if p.next == len(p.groups) {
			p.groups = append(p.groups, p.next)
		}
		dims[i] = p.number(p.groups[p.next])
		p.next++
	}
	numbers, err := shape.From(dims)
	if err != nil { // a vector of sizes whose length has a large number is not a shape
		return spec
	}
	return tensor.NewSpec(spec.DType(), numbers)
}

// number returns the number for a group of sizes.
func (p *probe) number(group int) int {
	if group < 0 {
		return -1 - group
	}
	return p.prime(group)
}

// unify looks for two sizes among the operands of a failed call that make it succeed if they are
// equal: the operation requires them to be equal.
func (p *probe) unify(c *op.Call) bool {
	var met []int
	groups := map[int]int{} // groups by number
	for i := range p.next {
		groups[p.number(p.groups[i])] = p.groups[i]
	}
	values := c.Values()
	for _, v := range values {
		s := v.(*Value).Shape()
		for i := range max(0, s.Rank()) {
			at, ok := groups[s.Dim(i)]
			if !ok {
				at = -1 - s.Dim(i)
			}
			met = append(met, at)
		}
	}
	for _, a := range met {
		for _, b := range met {
			if a >= b || b < 0 { // a known size, or the group found first, is kept
				continue
			}
			with := make([]tenon.Value, len(values))
			for k, v := range values {
				x := v.(*Value)
				if with[k] = v; x.konst != nil {
					continue
				}
				dims := x.Shape().Dims()
				for i, d := range dims {
					if d == p.number(b) {
						dims[i] = p.number(a)
					}
				}
				with[k] = p.graph.Param(tensor.NewSpec(x.DType(), shape.Of(dims...)))
			}
			if _, err := infer(c.WithValues(with)); err == nil {
				for i, group := range p.groups {
					if group == b {
						p.groups[i] = a
					}
				}
				return true
			}
		}
	}
	return false
}

func infer(c *op.Call) (specs []tenon.Spec, err error) {
	defer tenon.Catch(&err)
	return c.Infer()
}

// computed returns the results of calls that compute sizes: the shape of a value of the probe, and
// results of a few constants.
func (p *probe) computed(n *Node, c *op.Call) []tensor.Tensor {
	const few = 64
	if n.Op.Stateful || len(n.Regions()) > 0 {
		return nil
	}
	values := c.Values()
	if n.Op.Name == "shape" && values[0].(*Value).Shape().IsFull() {
		var sizes []int64
		for _, d := range values[0].(*Value).Shape().Dims() {
			sizes = append(sizes, int64(d))
		}
		out, err := tenon.Try(func() tensor.Tensor {
			cast, _ := op.Lookup("cast")
			return op.Eval(cast, tensor.Of(sizes, len(sizes)), n.Outs[0].DType())
		})
		if err != nil {
			return nil
		}
		return []tensor.Tensor{out}
	}
	for i, v := range values {
		x := v.(*Value)
		if x.konst == nil || x.konst.Shape().Size() > few {
			return nil
		}
		values[i] = x.konst
	}
	for _, o := range n.Outs {
		if s := o.Shape(); s.Size() > few || !s.IsFull() {
			return nil
		}
	}
	out, err := c.WithValues(values).DoTensors()
	if err != nil || len(out) != len(n.Outs) {
		return nil
	}
	return out
}

// primesFrom returns the prime numbers starting with first.
func primesFrom(first int) func(i int) int {
	var list []int
	n := first - 1
	return func(i int) int {
		for len(list) <= i {
			n++
			if isPrime(n) {
				list = append(list, n)
			}
		}
		return list[i]
	}
}

func isPrime(n int) bool {
	for k := 2; k*k <= n; k++ {
		if n%k == 0 {
			return false
		}
	}
	return n > 1
}
