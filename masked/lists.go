package masked

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// A missing list has no elements that could be missing, so a mask of elements does not cover it:
// elementwise operations keep the masks of lists.

// rowed is a tensor whose first axis is dense, followed by a number of ragged
// ones.
type rowed interface{ RaggedRank() int }

// lists removes the masks of ragged rows from the operands of an elementwise operation: a list of
// the result is missing if it is missing in an operand. It returns nil if there are no such masks.
func lists(values []tenon.Value) (bare []tenon.Value, masks []tensor.Tensor) {
	rank := 0
	for _, v := range values {
		if t, ok := v.(tensor.Tensor); ok {
			rank = max(rank, t.Shape().Rank())
		}
	}
	for i, v := range values {
		t, ok := v.(*Tensor)
		for ; ok && t.ofLists(rank); t, ok = v.(*Tensor) {
			if bare == nil {
				bare = append([]tenon.Value(nil), values...)
			}
			masks = add(masks, t.mask)
			v, bare[i] = t.values, t.values
		}
	}
	return bare, masks
}

// ofLists reports whether the mask of a tensor of the given rank is one of ragged
// rows.
func (t *Tensor) ofLists(rank int) bool {
	base := t.values
	for {
		inner, ok := base.(*Tensor)
		if !ok {
			break
		}
		base = inner.values
	}
	k := t.mask.Shape().Rank()
	r, ok := base.(rowed)
	return ok && k > 0 && k < rank && base.Shape().Rank() == rank && k <= r.RaggedRank()
}

// add inserts a mask; masks are ordered by number of dimensions.
func add(masks []tensor.Tensor, m tensor.Tensor) []tensor.Tensor {
	i, found := slices.BinarySearchFunc(masks, m.Shape().Rank(), func(o tensor.Tensor, rank int) int { return o.Shape().Rank() - rank })
	if !found {
		return slices.Insert(masks, i, m)
	}
	masks[i] = ops.LogicalAnd(masks[i], m)
	return masks
}

// over adds the masks of their lists to the result of an operation on bare operands.
func over(masks []tensor.Tensor, out tensor.Tensor) tensor.Tensor {
	for _, m := range slices.Backward(masks) {
		if s := out.Shape(); m.Shape().Dim(0) != s.Dim(0) { // stretched to more rows
			axes := make([]int, 0, s.Rank())
			for a := m.Shape().Rank(); a < s.Rank(); a++ {
				axes = append(axes, a)
			}
			m = ops.LogicalAnd(m, ops.OnesLike(ops.Any(ops.OnesLike(IsMissing(out)), axes...)))
		}
		out = wrap(out, m)
	}
	return out
}

// onElements applies an elementwise operation to the elements of lists.
func onElements(c *op.Call, bare []tenon.Value, masks []tensor.Tensor) ([]tenon.Value, error) {
	return op.One(over(masks, op.Apply(c, bare...)))
}

// bareOf is lists for operands that are tensors.
func bareOf(list ...tensor.Tensor) ([]tensor.Tensor, []tensor.Tensor) {
	values := make([]tenon.Value, len(list))
	for i, t := range list {
		values[i] = t
	}
	bare, masks := lists(values)
	if bare == nil {
		return list, nil
	}
	out := make([]tensor.Tensor, len(list))
	for i, v := range bare {
		out[i] = v.(tensor.Tensor)
	}
	return out, masks
}
