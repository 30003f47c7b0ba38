package ragged

import (
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	handle(einsum, "einsum")
	handle(dot, "dot")
	handle(matVec, "matvec")
}

// dot sums products over the last axis, a ragged one included.
func dot(c *op.Call) ([]tenon.Value, error) {
	x, ok := c.Value(0).(tensor.Tensor)
	y, ok2 := c.Value(1).(tensor.Tensor)
	if !ok || !ok2 || !taken(x) || !taken(y) {
		return nil, op.NotHandled
	}
	if rankOf(x) == 0 || rankOf(y) == 0 {
		return nil, c.Errorf(tenon.ErrShape, "a scalar has no last axis")
	}
	return c.One(ops.Sum(ops.Mul(x, y), -1))
}

// matVec multiplies each matrix by its vector: as a matrix with one column.
func matVec(c *op.Call) ([]tenon.Value, error) {
	x, ok := c.Value(1).(tensor.Tensor)
	if !ok || !taken(x) {
		return nil, op.NotHandled
	}
	a, ok := c.Value(0).(tensor.Tensor)
	if !ok || !taken(a) {
		return nil, op.NotHandled
	}
	if t, ok := a.(*Tensor); ok && rankOf(x) == 1 && t.flat.Shape().Rank() >= 2 {
		return c.One(t.with(ops.MatVec(t.flat, x)))
	}
	return c.One(ops.Squeeze(ops.MatMul(a, ops.ExpandDims(x, -1)), -1))
}

// einsum sums products over labelled axes. The labels of a ragged operand's partitioned
// axes, its first ones, say which rows go together: each operand that has them has them in
// front, in the same order and with the same rows. They stay in front in the result,
// except that inner ones may be summed over; then the products are summed row by row.
func einsum(c *op.Call) ([]tenon.Value, error) {
	in, out, err := terms(c)
	if err != nil {
		return nil, err
	}
	list := c.List(0)
	ts := make([]tensor.Tensor, len(list))
	var lead string // labels of the partitioned axes, and of the one outside of them
	var first *Tensor
	for i, v := range list {
		t, ok := v.(tensor.Tensor)
		if !ok || !taken(t) {
			return nil, op.NotHandled
		}
		if n := len([]rune(in[i])); n != rankOf(t) {
			return nil, c.Errorf(tenon.ErrShape, "the term %q names %d axes, operand %d has %d", in[i], n, i, rankOf(t))
		}
		ts[i] = t
		if r, ok := t.(*Tensor); ok && len(r.parts)+1 > len([]rune(lead)) {
			first, lead = r, string([]rune(in[i])[:len(r.parts)+1])
		}
	}
	k := len([]rune(lead)) - 1
	const merged = '\ue3ff'
	flats := make([]tenon.Value, len(ts))
	for i := range ts {
		if !strings.HasPrefix(in[i], lead) && strings.ContainsAny(in[i], lead) {
			return c.One(spreadProduct(c, ts, in, out, lead, first, i))
		}
	}
	for i, t := range ts {
		switch {
		case strings.HasPrefix(in[i], lead):
			flat, parts := split(atLeast(t, k))
			for a := range k {
				if err := sameRows(c.Op.Func(), first.parts[a], parts[a].as(first.parts[a].DType())); err != nil {
					return nil, err
				}
			}
			flats[i], in[i] = flat, string(merged)+strings.TrimPrefix(in[i], lead)
		default:
			flats[i] = t
		}
	}
	rest, kept := resultLabels(out, lead)
	if rest == nil {
		e := c.Errorf(tenon.ErrUnsupported, "the ragged axes %q stay in front of the result, from the outside in, or are summed over", lead)
		e.Hint = "name them first in the result"
		return nil, e
	}
	y := first.with(ops.Einsum(strings.Join(in, ",")+"->"+string(merged)+string(rest), anyValues(flats)...))
	axes := make([]int, 0, k+1)
	for a := kept; a <= k; a++ {
		axes = append(axes, a)
	}
	if len(axes) == 0 {
		return c.One(y)
	}
	return c.One(ops.Sum(y, axes...))
}

// spreadProduct is einsum with an operand that has only some of the labels of ragged
// axes, the outer ones in front: it is repeated for the entries of the others.
func spreadProduct(c *op.Call, ts []tensor.Tensor, in []string, out, lead string, first *Tensor, i int) tensor.Tensor {
	n := 0
	runes, labels := []rune(lead), []rune(in[i])
	for n < len(runes) && n < len(labels) && runes[n] == labels[n] {
		n++
	}
	if n == 0 || strings.ContainsAny(string(labels[n:]), lead) {
		tenon.Throw(c.Errorf(tenon.ErrUnsupported, "the term %q has to begin with the outer ones of the ragged axes %q", in[i], lead))
	}
	wide := atLeast(ts[i], n-1)
	flat, parts := split(wide)
	for a := range n - 1 {
		tenon.Throw(sameRows(c.Op.Func(), first.parts[a], parts[a].as(first.parts[a].DType())))
	}
	below := build(flat, parts[n-1:])
	for _, p := range first.parts[n-1:] {
		below = gatherRows(below, ops.Cast(p.ValueRowIDs(), dtype.Int64))
	}
	ts[i], in[i] = onTop(below, first.parts), lead+string(labels[n:])
	return ops.Einsum(strings.Join(in, ",")+"->"+out, anyTensors(ts)...)
}

// terms returns the labels of an einsum's operands and result.
func terms(c *op.Call) (in []string, out string, err error) {
	text := strings.ReplaceAll(c.Str(1), " ", "")
	if strings.Contains(text, ".") {
		return nil, "", c.Errorf(tenon.ErrUnsupported, "ragged operands have a label for each axis, not an ellipsis")
	}
	terms, out, arrow := strings.Cut(text, "->")
	in = strings.Split(terms, ",")
	if len(in) != len(c.List(0)) {
		return nil, "", c.Errorf(tenon.ErrInvalid, "the equation %q has %d terms for %d operands", text, len(in), len(c.List(0)))
	}
	if !arrow {
		var once []rune
		for _, r := range terms {
			if r != ',' && strings.Count(terms, string(r)) == 1 {
				once = append(once, r)
			}
		}
		slices.Sort(once)
		out = string(once)
	}
	return in, out, nil
}

// resultLabels returns the labels of the result behind those of ragged axes, and how
// many of these it keeps; nil where they are not in front in their order.
func resultLabels(out, lead string) (rest []rune, kept int) {
	labels, leads := []rune(out), []rune(lead)
	for kept < len(labels) && kept < len(leads) && labels[kept] == leads[kept] {
		kept++
	}
	rest = append([]rune{}, labels[kept:]...)
	if strings.ContainsAny(string(rest), lead) {
		return nil, 0
	}
	return rest, kept
}

func anyValues(vs []tenon.Value) []any {
	out := make([]any, len(vs))
	for i, v := range vs {
		out[i] = v
	}
	return out
}

func anyTensors(ts []tensor.Tensor) []any {
	out := make([]any, len(ts))
	for i, t := range ts {
		out[i] = t
	}
	return out
}
