package ragged

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	handle(attention, "attention") // the operation itself takes flat values that row splits divide
}

// The labels of attention's axes of queries and of keys.
const queryLabel, keyLabel = 0, 1

// attention lets queries attend to the keys of their own row. The partitioned axes of an operand
// are batch axes, which all operands have, and the axis of queries or keys; a mask may have both of
// these.
func attention(c *op.Call) ([]tenon.Value, error) {
	l, err := ops.LabelsOfAttention(c)
	if err != nil {
		return nil, err
	}
	labels := [4][]int{l.Query, l.Key, l.Value, l.Mask}
	a := &attending{c: c}
	for i, list := range labels {
		if !c.Has(i) {
			continue
		}
		t, ok := c.Value(i).(*Tensor)
		if x, is := c.Value(i).(tensor.Tensor); !is || !taken(x) {
			return nil, op.NotHandled
		}
		if n := slices.IndexFunc(list, func(l int) bool { return l <= keyLabel }); ok && a.rows == nil && n > 0 {
			a.rows, a.lead = t.parts[0], list[:n]
		}
	}
	n := len(a.lead)
	if c.Has(4) || n == 0 || len(l.Result) <= n || !slices.Equal(l.Result[:n+1], append(a.lead[:n:n], queryLabel)) {
		return nil, c.Errorf(tenon.ErrUnsupported, "ragged axes of queries and keys must come after batch axes in all operands and in the result")
	}
	q := a.take(0, labels[0], queryLabel)
	k := a.take(1, labels[1], keyLabel)
	v := a.take(2, labels[2], keyLabel)
	samePartitions(c.Op.Func(), v.parts, k.parts)
	samePartitions(c.Op.Func(), q.parts[:n-1], k.parts[:n-1])
	o := ops.AttentionOptions{Scale: c.Float(11), Causal: c.Bool(12), QuerySplits: q.parts[n-1].RowSplits(), KeySplits: k.parts[n-1].RowSplits()}
	flat := ops.AttentionLabels{Query: q.labels, Key: k.labels, Value: v.labels, Result: l.Result[n:]}
	if c.Has(3) {
		m := a.mask(labels[3], q.parts, k.parts)
		o.Mask, flat.Mask = m.flat, m.labels
	}
	y := ops.Attend(q.flat, k.flat, v.flat, flat, o)
	if t, ok := c.Value(0).(*Tensor); ok && len(t.parts) == n {
		return op.One(t.with(y))
	}
	return op.One(onTop(y, q.parts))
}

// attending is a call of attention, its rows, and the labels of the axes around queries and keys.
type attending struct {
	c    *op.Call
	rows *RowPartition
	lead []int
}

// An attended is an operand as flat values with the labels of their axes.
type attended struct {
	flat   tensor.Tensor
	labels []int
	parts  []*RowPartition
}

// take splits off the partitioned axes around an operand's items, and labels those of the items.
func (a *attending) take(i int, labels []int, items ...int) attended {
	return a.divide(i, a.c.Tensor(i), labels, items...)
}

func (a *attending) divide(i int, x tensor.Tensor, labels []int, items ...int) attended {
	want := slices.Concat(a.lead, items)
	t, ok := x.(*Tensor)
	if !ok && len(a.lead) == 1 && !slices.Contains(labels, a.lead[0]) { // the same for all rows
		n := ops.Reshape(ops.Cast(a.rows.NRows(), dtype.Int64), []int{1})
		x, labels = ops.BroadcastTo(x, ops.Concat([]any{n, ops.Cast(ops.Shape(x), dtype.Int64)}, 0)), slices.Concat(a.lead, labels)
	}
	order := slices.Clone(want)
	for _, l := range labels {
		if !slices.Contains(want, l) {
			order = append(order, l)
		}
	}
	perm := make([]int, len(order))
	for k, l := range order {
		perm[k] = slices.Index(labels, l)
	}
	if slices.Contains(perm, -1) || ok && (!slices.IsSorted(perm) || len(t.parts) > len(want)-1) {
		tenon.Throw(a.c.Errorf(tenon.ErrUnsupported, "the axes of %s that surround queries or keys are not those of the other operands", a.c.Op.Params[i].Name))
	}
	if !slices.IsSorted(perm) {
		x = ops.Transpose(x, perm...)
	}
	flat, parts := split(atLeast(x, len(want)-1))
	return attended{flat, append(items[:1:1], order[len(want):]...), parts}
}

// mask handles a mask of keys, or of pairs of queries and keys.
func (a *attending) mask(labels []int, queries, keys []*RowPartition) attended {
	x := a.c.Tensor(3)
	for _, l := range []int{queryLabel, keyLabel} { // size 1 along an axis serves all
		if k := slices.Index(labels, l); k >= 0 && x.Shape().Dim(k) == 1 {
			if _, ok := x.(*Tensor); !ok {
				x, labels = ops.Squeeze(x, k), slices.Delete(slices.Clone(labels), k, k+1)
			}
		}
	}
	if !slices.Contains(labels, queryLabel) {
		m := a.divide(3, x, labels, keyLabel)
		samePartitions(a.c.Op.Func(), m.parts, keys)
		return m
	}
	m := a.divide(3, x, labels, queryLabel, keyLabel)
	n := len(a.lead)
	samePartitions(a.c.Op.Func(), m.parts[:n], queries)
	lengths := rows.Repeat(rows.Lengths(keys[n-1].RowSplits()), queries[n-1].RowSplits(), queries[n-1].StaticNVals())
	samePartitions(a.c.Op.Func(), m.parts[n:], []*RowPartition{newPartition(rows.FromLengths(lengths), -1)})
	return m
}
