package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Joining tensors with missing rows or elements: a missing row stays missing when rows are joined,
// and counts as an empty row when the entries of rows are joined.

func init() {
	_, err := op.Handle(masked.TypeName, op.Match{Op: ofKind(op.Join)}, func(c *op.Call) ([]tenon.Value, error) {
		ts := make([]tensor.Tensor, len(c.List(0)))
		for i, v := range c.List(0) {
			t, ok := v.(tensor.Tensor)
			_, lacks := missing(v)
			_, records := v.(Records)
			if !ok || !lacks && !records && !taken(v) {
				return nil, op.NotHandled
			}
			ts[i] = lifted(t)
		}
		axis, _ := c.Attr("axis").(int)
		return op.One(joinedMissing(ts, axisIn(c.Op.Func(), ts[0], axis)))
	})
	tenon.Throw(err)
}

// joinedMissing joins tensors along an axis, at least one of which may have something missing.
// Whole lists outside the axis that are missing in one of them are missing in the result.
func joinedMissing(ts []tensor.Tensor, axis int) tensor.Tensor {
	for i, t := range ts {
		_, mask, depth := maskedAt(t)
		if mask == nil || depth >= axis {
			continue
		}
		rest := append([]tensor.Tensor(nil), ts...)
		for k, u := range rest {
			v, old, d := maskedAt(u)
			switch uniform := listsAt(withoutMask(u), depth).p.IsUniform(); {
			case uniform && d == depth:
				rest[k] = v
			case uniform:
			case d == depth:
				rest[k] = emptied(v, ops.LogicalAnd(old, mask), depth)
			default:
				rest[k] = emptied(u, mask, depth)
			}
			if d == depth && k != i {
				mask = ops.LogicalAnd(mask, old)
			}
		}
		return withMask(joinedMissing(rest, axis), mask)
	}
	values, masks := make([]tensor.Tensor, len(ts)), make([]tensor.Tensor, len(ts))
	outermost := 0
	for i, t := range ts {
		v, mask, depth := maskedAt(t)
		if mask != nil && depth == axis {
			v, mask, depth = maskedAt(emptied(v, mask, depth))
		}
		values[i], masks[i] = v, mask
		if mask != nil && (outermost == 0 || depth < outermost) {
			outermost = depth
		}
	}
	if outermost == 0 {
		return ops.Concat(values, axis)
	}
	// Handle one mask at a time, starting with the outermost.
	below := make([]tensor.Tensor, len(ts))
	for i, v := range values {
		switch {
		case masks[i] != nil && rankOf(masks[i]) == outermost:
			below[i] = v
		default:
			below[i] = withMask(v, masks[i])
			masks[i] = allThere(v, outermost)
		}
	}
	return withMask(ops.Concat(below, axis), ops.Concat(masks, axis))
}

// emptied replaces missing rows by empty ones.
func emptied(values, mask tensor.Tensor, depth int) tensor.Tensor {
	return filledAt("ops.Concat", withMask(fromRegular(values, depth), mask), []any{}, depth-1)
}

// allThere returns a mask of the outer dimensions of x that is true everywhere.
func allThere(x tensor.Tensor, depth int) tensor.Tensor {
	return ops.GreaterEqual(ops.Cast(localIndex(withoutMask(x), depth-1), dtype.Int64), int64(0))
}
