package metric

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

var roles = []string{"truth", "prediction", "weights"}

// bare returns dense tensors of the items of truth, prediction and weights. These may be in the same ragged
// rows, or be masked; items missing in one of them are removed from all. Weights, which may be nil, may
// also be given for the outermost rows.
func bare(fn string, operands ...tensor.Tensor) (out []tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	out = append(out, operands...)
	for {
		var rows *ragged.Tensor
		hidden := false
		for _, x := range out {
			switch x := x.(type) {
			case *ragged.Tensor:
				rows = x
			case *masked.Tensor:
				hidden = true
			}
		}
		switch {
		case rows != nil:
			err = unrowed(fn, out, rows)
		case hidden:
			err = present(fn, out)
		default:
			return out, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// unrowed replaces tensors, which must have the rows of x, by their items.
func unrowed(fn string, list []tensor.Tensor, x *ragged.Tensor) error {
	parts := x.Partitions()
	for i, t := range list {
		if t == nil {
			continue
		}
		own, ok := t.(*ragged.Tensor)
		if !ok && i == 2 && t.Shape().Rank() == 1 && t.Shape().Dim(0) == x.Shape().Dim(0) {
			for _, p := range parts {
				t = ops.Repeat(t, p.RowLengths(), 0)
			}
			list[i] = t
			continue
		}
		same := ok && own.RaggedRank() == len(parts)
		for k := 0; same && k < len(parts); k++ {
			same = tensor.Equal(own.Partitions()[k].RowSplits(), parts[k].RowSplits())
		}
		if !same {
			return tenon.NewError(tenon.ErrShape, "metric."+fn, fmt.Sprintf("the %s is %s, without the rows of %s", roles[i], tenon.String(t.Spec()), tenon.String(x.Spec())))
		}
		list[i] = own.FlatValues()
	}
	return nil
}

// present restricts tensors to the items that are missing in none of them.
func present(fn string, list []tensor.Tensor) error {
	var mask tensor.Tensor
	for i, t := range list {
		m, ok := t.(*masked.Tensor)
		switch {
		case !ok:
			continue
		case mask == nil:
			mask = m.Mask()
		case !m.Mask().Shape().Equal(mask.Shape()):
			return tenon.NewError(tenon.ErrShape, "metric."+fn, fmt.Sprintf("the mask of the %[3]s has the shape %[2]v, not %[1]v", mask.Shape(), m.Mask().Shape(), roles[i]))
		default:
			mask = ops.LogicalAnd(mask, m.Mask())
		}
		list[i] = m.Values()
	}
	rank := mask.Shape().Rank()
	for i, t := range list {
		if t == nil {
			continue
		}
		if s := t.Shape(); s.Rank() < rank || !s.Slice(0, rank).Equal(mask.Shape()) {
			return tenon.NewError(tenon.ErrShape, "metric."+fn, fmt.Sprintf("the %s has the shape %v, which does not begin with that of the mask, %v", roles[i], s, mask.Shape()))
		}
		list[i] = ops.BooleanMask(t, mask, 0)
	}
	return nil
}

// flat returns the items of truth, prediction and weights as vectors, or as [items, classes] for a
// prediction with classes.
func flat(fn string, truth, predicted, weights tensor.Tensor, classes bool) (t, p, w tensor.Tensor, err error) {
	list, err := bare(fn, truth, predicted, weights)
	if err != nil {
		return nil, nil, nil, err
	}
	defer tenon.Catch(&err)
	t, p, w = list[0], list[1], list[2]
	s, own := t.Shape(), p.Shape()
	if classes {
		if own.Rank() != s.Rank()+1 || !own.Slice(0, s.Rank()).Equal(s) {
			return nil, nil, nil, tenon.NewError(tenon.ErrShape, "metric."+fn, fmt.Sprintf("the truth has the shape %v, the scores %v: want [items] and [items, classes]", s, own))
		}
		p = ops.Reshape(p, []int{s.Size(), own.Dim(-1)})
	} else {
		if err := sameShape(fn, s, own); err != nil {
			return nil, nil, nil, err
		}
		p = ops.Reshape(p, []int{s.Size()})
	}
	if w != nil && !w.Shape().Equal(s) && !w.Shape().Equal(shape.Of(s.Size())) {
		return nil, nil, nil, tenon.NewError(tenon.ErrShape, "metric."+fn, fmt.Sprintf("the weights have the shape %v, there are %d items", w.Shape(), s.Size()))
	}
	if w != nil {
		w = ops.Reshape(w, []int{s.Size()})
	}
	return ops.Reshape(t, []int{s.Size()}), p, w, nil
}
