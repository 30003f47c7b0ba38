package graph

import (
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
)

// FLOPs returns the number of multiplications and additions in the sums of products of a
// contraction: one loop over all axes for two operands, two such products for attention, and five
// for its gradient, which recomputes the scores. It is 0 for other operations, and if sizes are not
// known.
func (n *Node) FLOPs() float64 {
	if n.Op.Axes != op.Contract {
		return 0
	}
	in := n.Inputs()
	if a, b := n.Op.Param("a_labels"), n.Op.Param("b_labels"); a >= 0 && b >= 0 && len(in) == 2 {
		x, _ := n.Args[a].([]int)
		y, _ := n.Args[b].([]int)
		return 2 * (loop{}).over(x, in[0].Shape()).over(y, in[1].Shape()).size()
	}
	if at := n.Op.Param("transpose_a"); at >= 0 && len(in) == 2 && in[0].Shape().HasRank() && n.Outs[0].Shape().IsFull() {
		summed := in[0].Shape().Rank() - 1
		if swapped, _ := n.Args[at].(bool); swapped {
			summed--
		}
		return 2 * float64(n.Outs[0].Shape().Size()) * max(0, float64(in[0].Shape().Dim(summed)))
	}
	q, splits := n.Op.Param("query_labels"), n.Op.Param("query_splits")
	if q < 0 || n.Args[splits] != nil || len(in) < 3 {
		return 0
	}
	labels := func(name string, s shape.Shape, last ...int) []int {
		if l, _ := n.Args[n.Op.Param(name+"_labels")].([]int); l != nil {
			return l
		}
		l := make([]int, s.Rank()) // the last two have the given labels; those before them are counted from the end
		for i := range l {
			if l[i] = len(l) + 1 - i; len(l)-i <= 2 {
				l[i] = last[2-len(l)+i]
			}
		}
		return l
	}
	result, times := n.Outs[0].Shape(), []float64{1, 1}
	if ct := n.Op.Param("ct"); ct >= 0 {
		result, times = n.Args[ct].(*Value).Shape(), []float64{3, 2}
	}
	scores := (loop{}).over(labels("query", in[0].Shape(), 0, 2), in[0].Shape()).over(labels("key", in[1].Shape(), 1, 2), in[1].Shape())
	mixed := (loop{}).over(labels("value", in[2].Shape(), 1, -1), in[2].Shape()).over(labels("result", result, 0, -1), result)
	return 2 * (times[0]*scores.size() + times[1]*mixed.size())
}

// A loop maps each label to its size, -1 if it is not known.
type loop map[int]int

// over adds the labels of an operand.
func (l loop) over(labels []int, s shape.Shape) loop {
	if !s.HasRank() || len(labels) != s.Rank() {
		l[0] = -1
		return l
	}
	for i, k := range labels {
		if n, has := l[k]; !has || n == 1 {
			l[k] = s.Dim(i)
		}
	}
	return l
}

// size returns the number of iterations, or 0 if it is not known.
func (l loop) size() float64 {
	n := 1.0
	for _, k := range l {
		n *= max(0, float64(k))
	}
	return n
}

// Bytes returns the size of a value's elements in bytes, or 0 if it is not known.
func (v *Value) Bytes() float64 {
	if n := v.Shape().Size(); n >= 0 {
		return float64(n) * float64(v.DType().Size())
	}
	return 0
}
