package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// PadOptions says how [PadMissing] pads. With the zero value, longer rows are unchanged.
type PadOptions struct {
	Clip bool // longer rows are truncated, so that all have the target length
}

// PadMissing pads the rows of an axis with missing entries up to a target length.
//
//	x: [n, (m)], target t, axis 1 → [n, (max(m, t))] with missing elements, or [n, t] if longer rows are truncated.
//	Gradient: the cotangent of the original entries.
func PadMissing(x tensor.Tensor, target, axis int, o PadOptions) (y tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	const fn = "ragged.PadMissing"
	if target < 0 {
		return nil, invalid(fn, "target", "is %d", target)
	}
	return paddedTo(x, target, axisIn(fn, x, axis), o), nil
}

func paddedTo(x tensor.Tensor, target, axis int, o PadOptions) tensor.Tensor {
	if r, ok := x.(Records); ok {
		return throughNumbers(r, func(at tensor.Tensor) tensor.Tensor { return paddedTo(at, target, axis, o) })
	}
	values, mask, depth := maskedAt(x)
	if mask != nil && depth <= axis {
		return withMask(paddedTo(values, target, axis, o), mask)
	}
	if axis == 0 {
		n := ops.Cast(outerSize(x), dtype.Int64)
		length := ops.Cast(tensor.Scalar(int64(target)), dtype.Int64)
		if !o.Clip {
			length = larger(n, length)
		}
		at := numbers(length)
		there := ops.Less(at, n)
		return paddedFrom(values, mask, depth, 1, func(v tensor.Tensor) tensor.Tensor { return takeOrNothing(v, at, there) }, there)
	}
	l := listsAt(withoutMask(values), axis)
	q, there := l.lengthened(target, o)
	pad := throughMasks(func(v tensor.Tensor) tensor.Tensor {
		m := listsAt(v, axis)
		m.dense = l.dense
		return m.with(m.filledUp(target, o), q)
	})
	return paddedFrom(values, mask, depth, axis+1, pad, l.with(there, q))
}

// lengthened returns the partition of padded rows, and which of their entries are not padding.
func (l lists) lengthened(target int, o PadOptions) (q *RowPartition, there tensor.Tensor) {
	goal := scalar(target, l.p.DType())
	there = rows.Present(l.p.RowSplits(), goal, o.Clip)
	switch {
	case o.Clip:
		return newUniform(l.p.NRows(), goal), there
	case l.p.IsUniform():
		return newUniform(l.p.NRows(), larger(l.p.uniform, goal)), there
	}
	lengths := ops.Maximum(l.p.RowLengths(), goal)
	return newPartition(rows.FromLengths(lengths), there.Shape().Dim(0)), there
}

// filledUp returns the values with filler after those of rows shorter than the target; longer rows
// are truncated if requested.
func (l lists) filledUp(target int, o PadOptions) tensor.Tensor {
	splits, values := l.p.RowSplits(), l.values
	goal := scalar(target, l.p.DType())
	if o.Clip && plain(values) {
		x := rows.ToDense(values, splits, goal, nil)
		return merged(x, 0, 1)
	}
	if o.Clip {
		var at tensor.Tensor
		splits, at = rows.SliceIndex(splits, key.To(target))
		values = gatherRows(values, at)
	}
	return filledRows(values, splits, goal)
}

// filledRows appends filler to rows shorter than width: zeros, or rows without values.
func filledRows(values, splits, width tensor.Tensor) tensor.Tensor {
	t, ok := values.(*Tensor)
	if !ok {
		out, _ := rows.FillUp(values, splits, width)
		return out
	}
	if p := t.parts[0]; p.IsUniform() { // the filler must be uniform, too
		n := cast(p.uniform, splits.DType())
		below := filledRows(t.Values(), ops.Mul(splits, n), ops.Mul(width, n))
		rowsNow := ops.Sum(ops.Maximum(rows.Lengths(splits), width))
		return partitioned(below, newUniform(cast(rowsNow, p.DType()), p.uniform))
	}
	lengths, _ := rows.FillUp(t.parts[0].RowLengths(), splits, width)
	return partitioned(t.Values(), newPartition(rows.FromLengths(lengths), t.parts[0].nvals))
}

// larger returns the larger of two sizes.
func larger(a, b tensor.Tensor) tensor.Tensor {
	if n, m := known(a), known(b); n >= 0 && m >= 0 {
		return scalar(max(n, m), a.DType())
	}
	return ops.Maximum(a, b)
}

// paddedFrom pads values with a mask of depth dimensions along the dimension at, which new masks
// have. there says what is not padding.
func paddedFrom(values, mask tensor.Tensor, depth, at int, pad func(tensor.Tensor) tensor.Tensor, there tensor.Tensor) tensor.Tensor {
	switch {
	case mask == nil:
		return withMask(pad(values), there)
	case depth == at:
		return withMask(pad(values), ops.LogicalAnd(there, pad(mask)))
	}
	return withMask(withMask(pad(values), pad(mask)), there)
}

// takeOrNothing returns the rows of v at positions, and filler where there is none.
func takeOrNothing(v, at, there tensor.Tensor) tensor.Tensor {
	if m, ok := missing(v); ok {
		return withMask(takeOrNothing(m.Values(), at, there), takeOrNothing(m.Mask(), at, there))
	}
	if r, ok := v.(Records); ok {
		n := r.Numbers()
		at = ops.Where(there, at, ops.Cast(outerSize(n), dtype.Int64))
		records, _ := missing(tenon.Must(r.AtNumbers(withMask(ops.Gather(withFiller(n), at, 0), there))))
		return records.Values()
	}
	if plain(v) {
		return rows.TakePresent(v, at, there)
	}
	n := ops.Cast(outerSize(v), dtype.Int64)
	return gatherRows(withFiller(v), ops.Where(there, at, n))
}

// withFiller appends a row to stand for missing ones.
func withFiller(v tensor.Tensor) tensor.Tensor { return withFillers(v, scalar(1, dtype.Int64)) }

// withFillers appends n rows of filler: zeros, or empty rows.
func withFillers(v, n tensor.Tensor) tensor.Tensor {
	if t, ok := v.(*Tensor); ok {
		p := t.parts[0]
		n = cast(n, p.DType())
		if p.IsUniform() {
			return partitioned(withFillers(t.Values(), product(p.uniform, n)), newUniform(sum(p.NRows(), n), p.uniform))
		}
		more := filled(n, p.NVals())
		return partitioned(t.Values(), newPartition(ops.Concat([]tensor.Tensor{p.RowSplits(), more}, 0), p.nvals))
	}
	dims := ops.Concat([]tensor.Tensor{ops.Reshape(ops.Cast(n, dtype.Int64), []int{1}), tail(v)}, 0)
	return ops.Concat([]tensor.Tensor{v, ops.Zeros(v.DType(), dims)}, 0)
}

// Firsts returns the first entry of each row of an axis; it is missing if the row is empty.
//
//	x: [n, (m), a] → [n, a] at axis 1 with missing entries. Gradient: the cotangents of the entries.
func Firsts(x tensor.Tensor, axis int) (y tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	a := axisIn("ragged.Firsts", x, axis)
	if a == 0 {
		return ops.Index(x, 0), nil
	}
	return firsts(x, a), nil
}

func firsts(x tensor.Tensor, axis int) tensor.Tensor {
	if r, ok := x.(Records); ok {
		return throughNumbers(r, func(at tensor.Tensor) tensor.Tensor { return firsts(at, axis) })
	}
	values, mask, depth := maskedAt(x)
	if mask != nil && depth <= axis {
		return withMask(firsts(values, axis), mask)
	}
	l := listsAt(withoutMask(values), axis)
	at, there := cast(l.p.RowStarts(), dtype.Int64), ops.Greater(l.p.RowLengths(), scalar(0, l.p.DType()))
	take := throughMasks(func(v tensor.Tensor) tensor.Tensor {
		m := listsAt(v, axis)
		m.dense = l.dense
		return m.settled(onTop(takeOrNothing(m.values, at, there), m.outer))
	})
	return paddedFrom(values, mask, depth, axis, take, l.settled(build(there, l.outer)))
}

// Singletons converts each entry of an axis to a row: one with the entry, or an empty one if it is
// missing.
//
//	x: [n, a] with missing entries, axis 0 → [n, (0 or 1), a]. Gradient: the cotangents of the entries.
func Singletons(x tensor.Tensor, axis int) (y tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	return singletons(x, axisIn("ragged.Singletons", x, axis)), nil
}

func singletons(x tensor.Tensor, axis int) tensor.Tensor {
	values, mask, depth := maskedAt(x)
	switch {
	case mask == nil:
		if d, ok := values.(*tensor.Dense); ok && axis == 0 {
			return wrapOne(values, newPartition(rows.Uniform(scalar(1, dtype.Int64), scalar(d.Dim(0), dtype.Int64)), d.Dim(0)))
		}
		return fromRegular(ops.ExpandDims(values, axis+1), axis+1)
	case depth > axis+1:
		return withMask(singletons(values, axis), fromRegular(ops.ExpandDims(mask, axis+1), axis+1))
	case depth <= axis:
		return withMask(singletons(values, axis), mask)
	}
	if m, ok := missing(values); ok {
		return withMask(singletons(withMask(m.Values(), mask), axis), singletons(withMask(m.Mask(), mask), axis))
	}
	flat, parts := split(atLeast(mask, axis))
	p := newPartition(rows.FromLengths(ops.Cast(flat, dtype.Int64)), shape.Unknown)
	if axis == 0 {
		return onParts(ops.BooleanMask(values, mask, 0), []*RowPartition{p})
	}
	return onParts(ops.BooleanMask(belowParts(values, axis), flat, 0), append(append([]*RowPartition(nil), parts...), p))
}
