package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	handle(onTaken(takeAlongAxis), "take_along_axis") // positions in rows that the data need not share
}

// takeAlongAxis takes an element along an axis for each index. Both have the same rows outside the
// axis, and also below it, so that positions there are kept.
func takeAlongAxis(c *op.Call, x, at tensor.Tensor) ([]tenon.Value, error) {
	if rankOf(x) != rankOf(at) {
		return nil, c.Errorf(tenon.ErrShape, "the indices have rank %d, the tensor %d", rankOf(at), rankOf(x))
	}
	if !at.DType().IsInteger() {
		return nil, c.Errorf(tenon.ErrDType, "the indices are %v, not integers", at.DType())
	}
	_, p := split(x)
	_, q := split(at)
	k := max(len(p), len(q))
	t, i := atLeast(x, k).(*Tensor), atLeast(at, k).(*Tensor)
	axis := axisOf(c, t)
	for a := range k {
		if a+1 == axis {
			continue
		}
		tenon.Throw(sameRows(c.Op.Func(), t.parts[a], i.parts[a]))
	}
	switch {
	case axis > k:
		return op.One(i.with(ops.TakeAlongAxis(t.flat, i.flat, axis-k)))
	case axis == k && t.flat.Shape().Rank() == 1 && i.flat.Shape().Rank() == 1:
		return op.One(i.with(ops.Gather(t.flat, absoluteIn(c, t.parts[k-1], i.parts[k-1], i.flat), 0)))
	case axis == k:
		return op.One(i.with(ops.TakeAlongAxis(t.flat, absoluteIn(c, t.parts[k-1], i.parts[k-1], i.flat), 0)))
	}
	return op.One(i.with(ops.TakeAlongAxis(t.flat, acrossRows(t, i, axis), 0)))
}

// absoluteIn converts positions in the rows of p, listed in rows of q, to positions among the
// values. Negative ones count from the end of the row.
func absoluteIn(c *op.Call, p, q *RowPartition, at tensor.Tensor) tensor.Tensor {
	return inNameOfCall(c, func() tensor.Tensor { return rows.Places(asPositions(at), q.RowSplits(), p.RowSplits()) })
}

// acrossRows converts numbers of entries of an axis with partitioned axes below it to positions
// among the flat values of t.
func acrossRows(t, i *Tensor, axis int) tensor.Tensor {
	// The values of a fiber are ordered by the numbers of their entries, so that fiber and number
	// together are a key in ascending order.
	fiber, number := t.segments(axis).ids(), valueNumbers(t, axis)
	wide := ops.Add(ops.Max(ops.Concat([]any{number, []int64{0}}, 0)), int64(1))
	keys := ops.Add(ops.Mul(fiber, wide), number)
	order := ops.ArgSort(keys, 0, ops.SortOptions{})
	sorted := ops.Gather(keys, order, 0)
	at := asPositions(i.flat)
	want := ops.Add(inner(ops.Mul(i.segments(axis).ids(), wide), at), at)
	place := ops.SearchSorted(sorted, want, false)
	n := ops.Cast(outerSize(keys), dtype.Int64)
	found := ops.Less(place, n)
	place = ops.Minimum(place, ops.Maximum(ops.Sub(n, int64(1)), int64(0)))
	got := ops.Gather(sorted, place, 0)
	// A number that does not exist in a fiber could be the key of an entry of
	// another one.
	good := ops.LogicalAnd(ops.LogicalAnd(found, ops.Equal(got, want)), ops.LogicalAnd(ops.GreaterEqual(at, int64(0)), ops.Less(at, wide)))
	if b, ok := op.Known(ops.All(good)); ok && !tensor.Data[bool](b)[0] {
		tenon.Throw(invalid("ops.TakeAlongAxis", "indices", "refer to an entry that has no element there"))
	}
	return ops.Where(good, ops.Gather(order, place, 0), int64(-1)<<40)
}

// argSort returns the positions of the elements of each row in sorted order. Along an axis with
// ragged axes below it, they are the numbers of the entries that contain the elements.
func argSort(c *op.Call, x *Tensor) ([]tenon.Value, error) {
	o := rows.SortOptions{Descending: truthAttr(c, "descending")}
	axis := axisOf(c, x)
	k := len(x.parts)
	if axis > k {
		return insideRows(c, x, axis-k)
	}
	s := x.segments(axis)
	if s.from == nil {
		return op.One(x.with(rows.ArgSort(x.flat, s.over.RowSplits(), o)))
	}
	order, splits, back := s.order()
	at := rows.ArgSort(ops.Gather(x.flat, order, 0), splits, o)
	fibers := newPartition(splits, shape.Unknown)
	first := inner(rows.Repeat(ops.Cast(fibers.RowStarts(), dtype.Int64), splits, fibers.nvals), at)
	numbers := ops.Gather(valueNumbers(x, axis), order, 0)
	sorted := ops.Gather(numbers, ops.Add(first, ops.Cast(at, dtype.Int64)), 0)
	return op.One(x.with(ops.Gather(sorted, back, 0)))
}
