package rowwise

import (
	"slices"
	"strings"

	"github.com/tenonml/tenon/ops"
)

// contracted handles sums of products over axes with the same label: the label of rows must be a
// label of the result.
func (n *node) contracted() part {
	labels, out, ok := n.labels()
	if !ok {
		return part{}
	}
	var row int
	var p part
	for i, q := range n.in {
		if q.kind != entries {
			continue
		}
		if q.into != nil || q.axis >= len(labels[i]) {
			return part{}
		}
		l := labels[i][q.axis]
		if p.kind == entries && (l != row || !q.level.is(p.level)) {
			return part{kind: mixed}
		}
		row, p = l, q
	}
	for i, q := range n.in {
		if q.kind == alike && slices.Contains(labels[i], row) && n.dim(i, slices.Index(labels[i], row)) != 1 {
			return part{}
		}
	}
	if p.kind != entries {
		return part{}
	}
	axis := slices.Index(out, row)
	if axis < 0 {
		return part{kind: mixed}
	}
	return along(axis, p.level)
}

// labels returns the labels of the axes of operands and result.
func (n *node) labels() (in [][]int, out []int, ok bool) {
	for i := range n.in {
		if n.rank(i) < 0 {
			return nil, nil, false
		}
	}
	c := n.call
	switch n.Op.Name {
	case "contract":
		return [][]int{c.Ints(2), c.Ints(3)}, c.Ints(4), true
	case "einsum":
		return n.equation(c.Str(1))
	case "matmul":
		const rowsOf, summed, columns = -1, -2, -3
		a, b := []int{rowsOf, summed}, []int{summed, columns}
		if c.Bool(2) {
			slices.Reverse(a)
		}
		if c.Bool(3) {
			slices.Reverse(b)
		}
		if n.rank(0) < 2 || n.rank(1) < 2 {
			return nil, nil, false
		}
		rank := max(n.rank(0), n.rank(1))
		return [][]int{behind(n.rank(0), a), behind(n.rank(1), b)}, behind(rank, []int{rowsOf, columns}), true
	case "matvec":
		const rowsOf, summed = -1, -2
		if n.rank(0) < 2 || n.rank(1) < 1 {
			return nil, nil, false
		}
		rank := max(n.rank(0)-1, n.rank(1))
		return [][]int{behind(n.rank(0), []int{rowsOf, summed}), behind(n.rank(1), []int{summed})}, behind(rank, []int{rowsOf}), true
	case "attention":
		l, err := ops.LabelsOfAttention(c)
		if in = [][]int{l.Query, l.Key, l.Value}; c.Has(3) {
			in = append(in, l.Mask)
		}
		return in, l.Result, err == nil && l.Result != nil
	}
	return nil, nil, false
}

// behind returns labels for batch axes, counted from the last one, followed by other labels.
func behind(rank int, last []int) []int {
	var out []int
	for i := rank - len(last); i > 0; i-- {
		out = append(out, i)
	}
	return append(out, last...)
}

// equation returns the labels of an einsum equation.
func (n *node) equation(text string) (in [][]int, out []int, ok bool) {
	left, right, ok := strings.Cut(strings.ReplaceAll(text, " ", ""), "->")
	if !ok || strings.Contains(text, ".") {
		return nil, nil, false
	}
	for _, term := range strings.Split(left, ",") {
		in = append(in, letters(term))
	}
	return in, letters(right), len(in) == len(n.in)
}

func letters(term string) []int {
	var out []int
	for _, r := range term {
		out = append(out, int(r))
	}
	return out
}

// convolved handles windows that are multiplied by a kernel: axes before the positions are batch
// axes.
func convolved(n *node) []part {
	p, r, k := n.in[0], n.rank(0), n.rank(1)
	if p.kind != entries || p.into != nil || r < 0 || k < 0 || !all(n.in[1:], isAlike) {
		return []part{{}}
	}
	positions := k - 2
	if p.axis < r-1-positions {
		return []part{along(p.axis, p.level)}
	}
	return []part{{kind: mixed}}
}

// windowed handles windows along axes that a parameter names.
func windowed(n *node) []part {
	p, r := n.in[0], n.rank(0)
	if p.kind != entries || p.into != nil || r < 0 || !all(n.in[1:], isAlike) {
		return []part{{}}
	}
	axes, err := n.call.Axes(r)
	if err != nil || n.call.Args[n.Op.AxisParam()] == nil || slices.ContainsFunc(axes, func(a int) bool { return a < p.axis }) {
		return []part{{}}
	}
	if slices.Contains(axes, p.axis) {
		return []part{{kind: mixed}}
	}
	return []part{along(p.axis, p.level)}
}
