package passes

import (
	"slices"
	"strings"

	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
)

// A contraction is a node that sums products of two tensors, with labels for their axes as
// in [ops.Contract].
type contraction struct {
	a, b        *graph.Value
	al, bl, out []int
}

// contractionOf returns the contraction that a node computes, if any: the node is a
// contract, an einsum of two operands without ellipsis or repeated letters, or a matmul
// with equal leading axes, and sizes are known.
func contractionOf(n *graph.Node) (k contraction, ok bool) {
	k, ok = labelled(n)
	return k, ok && k.full()
}

func (k contraction) full() bool { return k.a.Shape().IsFull() && k.b.Shape().IsFull() }

// labelled is contractionOf for any sizes.
func labelled(n *graph.Node) (k contraction, ok bool) {
	if n == nil {
		return k, false
	}
	c := &op.Call{Op: n.Op, Args: n.Args}
	switch n.Op.Name {
	case "contract":
		k = contraction{al: c.Ints(2), bl: c.Ints(3), out: c.Ints(4)}
		k.a, _ = n.Args[0].(*graph.Value)
		k.b, _ = n.Args[1].(*graph.Value)
	case "einsum":
		list := c.List(0)
		in, out, explicit := strings.Cut(strings.ReplaceAll(c.Str(1), " ", ""), "->")
		terms := strings.Split(in, ",")
		if len(list) != 2 || len(terms) != 2 || !explicit || strings.Contains(in, ".") {
			return k, false
		}
		k = contraction{al: letters(terms[0]), bl: letters(terms[1]), out: letters(out)}
		k.a, _ = list[0].(*graph.Value)
		k.b, _ = list[1].(*graph.Value)
	case "matmul":
		k.a, _ = n.Args[0].(*graph.Value)
		k.b, _ = n.Args[1].(*graph.Value)
		if k.a == nil || k.b == nil || !k.matrices(c.Bool(2), c.Bool(3)) {
			return k, false
		}
	}
	if k.a == nil || k.b == nil || !k.a.Shape().HasRank() || !k.b.Shape().HasRank() {
		return k, false
	}
	for _, l := range [][]int{k.al, k.bl, k.out} {
		if repeated(l) {
			return k, false
		}
	}
	return k, len(k.al) == k.a.Shape().Rank() && len(k.bl) == k.b.Shape().Rank()
}

// matrices sets the labels of a product of matrices.
func (k *contraction) matrices(transA, transB bool) bool {
	s, t := k.a.Shape(), k.b.Shape()
	if !s.HasRank() || s.Rank() != t.Rank() || s.Rank() < 2 {
		return false
	}
	lead := s.Rank() - 2
	for i := range lead {
		if s.Dim(i) < 0 || s.Dim(i) != t.Dim(i) {
			return false
		}
		k.al = append(k.al, i)
	}
	row, inner, col := lead, lead+1, lead+2
	pair := func(a, b int, swap bool) []int {
		if swap {
			a, b = b, a
		}
		return []int{a, b}
	}
	batch := slices.Clone(k.al)
	k.al = slices.Concat(batch, pair(row, inner, transA))
	k.bl = slices.Concat(batch, pair(inner, col, transB))
	k.out = slices.Concat(batch, []int{row, col})
	return true
}

func letters(s string) (out []int) {
	for _, r := range s {
		out = append(out, int(r))
	}
	return out
}

func repeated(labels []int) bool {
	for i, l := range labels {
		if slices.Contains(labels[:i], l) {
			return true
		}
	}
	return false
}

// operand returns the operand other than v and its labels, and the labels of v.
func (k contraction) operand(v *graph.Value) (other *graph.Value, labels, own []int, ok bool) {
	switch {
	case k.a == v && k.b != v:
		return k.b, k.bl, k.al, true
	case k.b == v && k.a != v:
		return k.a, k.al, k.bl, true
	}
	return nil, nil, nil, false
}

// renamed returns labels translated by names.
func renamed(labels []int, names map[int]int) []int {
	out := make([]int, len(labels))
	for i, l := range labels {
		to, ok := names[l]
		if !ok {
			to = -1
		}
		out[i] = to
	}
	return out
}

// namesOf maps labels to those of another list of the same axes.
func namesOf(labels, names []int) map[int]int {
	m := map[int]int{}
	for i, l := range labels {
		m[l] = names[i]
	}
	return m
}

// difference returns the labels that none of the other lists contains.
func difference(labels []int, others ...[]int) (out []int) {
	for _, l := range labels {
		if !slices.ContainsFunc(others, func(o []int) bool { return slices.Contains(o, l) }) {
			out = append(out, l)
		}
	}
	return out
}
