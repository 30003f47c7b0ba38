package ops

import (
	"math"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
)

// The labels of the axes of queries and of keys.
const queryLabel, keyLabel = 0, 1

// The indices of the mask and the result in lists; query, key and value are 0, 1 and 2.
const maskAt, resultAt = 3, 4

// attending is an analyzed call of attention or of its gradient: the roles of the labels, and the
// sizes of their axes as far as they are known.
type attending struct {
	at           int // index of the mask among the arguments; row splits, labels, scale and causal follow it
	labels       [5][]int
	size         map[int]int
	batch        []int // labels, in the order of the result
	depth, width []int // labels of features of queries and keys, and of values
	scale        float64
	causal       bool
	pairs        bool // the mask has an element for each query and key of a row
}

// attendingOf determines the roles of the labels. It returns nil if a rank is not known. Argument
// at is the mask.
func attendingOf(c *op.Call, at int) (*attending, error) {
	a := &attending{at: at, size: map[int]int{}, scale: c.Float(at + 8), causal: c.Bool(at + 9)}
	var shapes [4]shape.Shape
	for i := range shapes {
		if k := a.arg(i); c.Has(k) {
			shapes[i] = c.Tensor(k).Shape()
		}
	}
	var err error
	if a.labels, err = labelsOf(c, at, shapes); err != nil || a.labels[resultAt] == nil {
		return nil, err
	}
	a.pairs = a.inRows(c) && slices.Contains(a.labels[maskAt], queryLabel)
	if err := a.assign(c); err != nil {
		return nil, err
	}
	for i, s := range shapes {
		if c.Has(a.arg(i)) {
			if err := a.measure(c, i, s); err != nil {
				return nil, err
			}
		}
	}
	if a.scale == 0 {
		a.scale = 1 / math.Sqrt(float64(max(1, a.product(a.depth))))
	}
	return a, a.divided(c)
}

// arg returns the argument index of operand i or of the mask.
func (a *attending) arg(i int) int {
	if i == maskAt {
		return a.at
	}
	return i
}

// inRows reports whether queries and keys are divided into rows.
func (a *attending) inRows(c *op.Call) bool { return c.Has(a.at + 1) }

// labelsOf returns the labels of a call whose operands have the given shapes. If none are given,
// leading axes are batch axes, counted from the last. All results are nil if a rank is not known.
func labelsOf(c *op.Call, at int, shapes [4]shape.Shape) (labels [5][]int, err error) {
	for i := range labels {
		labels[i] = c.Ints(at + 3 + i)
	}
	if !c.Has(at) {
		labels[maskAt] = nil
	}
	if labels[resultAt] != nil {
		return labels, nil
	}
	front := 0
	for i, last := range [][]int{{queryLabel, 2}, {keyLabel, 2}, {keyLabel, 3}, {queryLabel, keyLabel}} {
		s := shapes[i]
		switch {
		case i == maskAt && !c.Has(at):
			continue
		case !s.HasRank():
			return [5][]int{}, nil
		case s.Rank() < 2 && i < maskAt:
			return labels, c.Errorf(tenon.ErrShape, "%s has rank %d, at least 2 is needed", c.Op.Params[i].Name, s.Rank())
		}
		front = max(front, s.Rank()-2)
		labels[i] = onMatrices(s.Rank(), last)
	}
	labels[resultAt] = onMatrices(front+2, []int{queryLabel, 3})
	return labels, nil
}

// onMatrices returns labels for rank axes: last for the last one or two, and numbers from 4 up,
// from right to left, for the others.
func onMatrices(rank int, last []int) []int {
	list := make([]int, rank)
	for i := range list {
		if k := rank - 1 - i; k < 2 {
			list[i] = last[1-k]
		} else {
			list[i] = 2 + k
		}
	}
	return list
}

// assign determines the roles of the labels.
func (a *attending) assign(c *op.Call) error {
	in := map[int]int{} // where each label occurs
	for i, list := range a.labels {
		for k, l := range list {
			if l < 0 || slices.Index(list, l) < k {
				return c.Errorf(tenon.ErrInvalid, "labels %v", list)
			}
			in[l] |= 1 << i
		}
	}
	const masked, resulting = 1 << maskAt, 1 << resultAt
	if in[queryLabel]&^masked != 1|resulting || in[keyLabel]&^masked != 0b110 || a.pairs && in[keyLabel]&masked != 0 {
		return c.Errorf(tenon.ErrInvalid, "label 0 must be that of queries and results, and 1 that of keys and values, in %v", a.labels)
	}
	those := func(list []int, is func(in int) bool) []int {
		return slices.DeleteFunc(slices.Clone(list), func(l int) bool { return l == queryLabel || l == keyLabel || !is(in[l]) })
	}
	a.depth = those(a.labels[0], func(in int) bool { return in == 0b11 })
	a.width = those(a.labels[2], func(in int) bool { return in == 1<<2|resulting })
	a.batch = those(a.labels[resultAt], func(in int) bool { return in != resulting && in != 1<<2|resulting })
	known := slices.Concat(a.depth, a.width, a.batch, []int{queryLabel, keyLabel})
	for l := range in {
		if !slices.Contains(known, l) {
			return c.Errorf(tenon.ErrInvalid, "label %d has no role in %v", l, a.labels)
		}
	}
	return nil
}

// measure records the sizes of an operand or of the mask.
func (a *attending) measure(c *op.Call, i int, s shape.Shape) error {
	name, list := c.Op.Params[a.arg(i)].Name, a.labels[i]
	if !s.HasRank() {
		s = shape.OfRank(len(list))
	}
	if s.Rank() != len(list) {
		return c.Errorf(tenon.ErrShape, "%s has the shape %v, its labels are %v", name, s, list)
	}
	for k, l := range list {
		n := s.Dim(k)
		old, ok := a.size[l]
		spreads := slices.Contains(a.batch, l)
		switch {
		case i == maskAt && l == queryLabel && a.pairs:
		case !ok || spreads && old == 1:
			a.size[l] = n
		case n == old || n < 0 || n == 1 && (spreads || i == maskAt):
		case old < 0:
			a.size[l] = n
		case i == maskAt:
			return c.Errorf(tenon.ErrShape, "the mask's shape %v does not broadcast to that of the scores, [%v, %v]", s, a.size[queryLabel], a.size[keyLabel])
		case l == keyLabel:
			return c.Errorf(tenon.ErrShape, "numbers of keys and values: %d and %d differ", old, n)
		case slices.Contains(a.depth, l):
			return c.Errorf(tenon.ErrShape, "sizes of queries and keys: %d and %d differ", old, n)
		default:
			return c.Errorf(tenon.ErrShape, "%s has the size %d along label %d, another operand %d", name, n, l, old)
		}
	}
	return nil
}

// divided checks the row splits, if there are any.
func (a *attending) divided(c *op.Call) error {
	if c.Has(a.at+1) != c.Has(a.at+2) {
		return c.Errorf(tenon.ErrInvalid, "there are row splits only for queries or only for keys")
	}
	if !a.inRows(c) {
		return nil
	}
	var rows [2]int
	for i, l := range []int{queryLabel, keyLabel} {
		n, items, err := c.Partition(a.at + 1 + i)
		if err != nil {
			return err
		}
		if have := a.size[l]; have >= 0 && items >= 0 && have != items {
			return c.Errorf(tenon.ErrShape, "%s ends at %d, there are %d items", c.Op.Params[a.at+1+i].Name, items, have)
		}
		rows[i] = n
	}
	return a.sameRows(c, rows[0], rows[1])
}

func (a *attending) sameRows(c *op.Call, queries, keys int) error {
	if queries >= 0 && keys >= 0 && queries != keys {
		return c.Errorf(tenon.ErrShape, "there are %d rows of queries and %d of keys", queries, keys)
	}
	return nil
}

// shape returns the sizes of the axes with the given labels.
func (a *attending) shape(labels []int) shape.Shape {
	dims := make([]int, len(labels))
	for i, l := range labels {
		dims[i] = a.size[l]
	}
	return shape.Of(dims...)
}

// product returns the product of sizes; it is negative if one is not known.
func (a *attending) product(labels []int) int { return a.shape(labels).Size() }
