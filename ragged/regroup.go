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

// Flatten merges an axis with the one outside of it, concatenating its rows. Missing rows are
// dropped, and missing elements are kept. At axis 0 nothing is merged; only what is missing there
// is dropped.
//
//	x: [n, (m), a] → [nvals, a] at axis 1, [n, (m·a)] at axis 2.
//	Gradient: the cotangent in the original rows.
func Flatten(x tensor.Tensor, axis int) (y tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	return flattened(x, axisIn("ragged.Flatten", x, axis)), nil
}

func flattened(x tensor.Tensor, axis int) tensor.Tensor {
	if r, ok := x.(Records); ok {
		return throughNumbers(r, func(at tensor.Tensor) tensor.Tensor { return flattened(at, axis) })
	}
	values, mask, depth := maskedAt(x)
	switch {
	case mask != nil && depth == max(axis, 1):
		return flattened(kept(values, mask), axis)
	case axis == 0:
		return x
	case mask != nil && depth < axis:
		return withMask(flattened(values, axis), mask)
	case mask != nil:
		return withMask(flattened(values, axis), merged(mask, axis-1, axis))
	}
	return merged(values, axis-1, axis)
}

// kept drops from values what the mask lacks, at the mask's innermost dimension.
func kept(values, mask tensor.Tensor) tensor.Tensor {
	if m, ok := missing(values); ok {
		return withMask(kept(m.Values(), mask), kept(m.Mask(), mask))
	}
	depth := mask.Shape().Rank()
	if depth == 1 {
		return ops.BooleanMask(values, mask, 0)
	}
	l := listsAt(values, depth-1)
	flat, _ := split(atLeast(mask, depth-1))
	splits := rows.MaskSplits(l.p.RowSplits(), flat)
	return l.with(ops.BooleanMask(l.values, flat, 0), newPartition(splits, shape.Unknown))
}

// Ravel returns all elements, in order, as a vector. Missing elements are kept; missing rows
// contribute no elements.
//
//	x: [n, (m), a] → [k]. Gradient: the cotangent at the original positions.
func Ravel(x tensor.Tensor) (y tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	for x.Shape().Rank() > 1 {
		x = flattened(x, 1)
	}
	return x, nil
}

// FlattenAll is [Ravel] without missing elements.
func FlattenAll(x tensor.Tensor) (y tensor.Tensor, err error) {
	y = tenon.Must(Ravel(x))
	defer tenon.Catch(&err)
	return flattened(y, 0), nil
}

// Unflatten divides the entries of an axis into new rows. counts is their common length, an
// integer, or a vector with their lengths in order. Inside a ragged axis, new rows must end where
// the old ones do.
//
//	x: [k, a], counts: int[n] → [n, (counts), a]; counts: int c → [k/c, c, a].
//	Gradient: for x.
func Unflatten(x tensor.Tensor, counts any, axis int) (y tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	const fn = "ragged.Unflatten"
	c := tenon.Must(tensor.Convert(counts))
	if !c.DType().IsInteger() || c.Shape().Rank() > 1 {
		return nil, invalid(fn, "counts", "are %s, want an integer or a vector of them", tenon.String(c.Spec()))
	}
	a := axisIn(fn, x, axis)
	return alongMasks(x, a, func(x tensor.Tensor) tensor.Tensor { return unflattened(fn, x, c, a) }), nil
}

func unflattened(fn string, x, counts tensor.Tensor, axis int) tensor.Tensor {
	if r, ok := x.(Records); ok {
		return throughNumbers(r, func(at tensor.Tensor) tensor.Tensor { return unflattened(fn, at, counts, axis) })
	}
	single := counts.Shape().Rank() == 0
	counts = asPositions(counts)
	if c, ok := op.Known(counts); ok && single && tensor.Item[int64](c) < 0 {
		tenon.Throw(invalid(fn, "counts", "a row cannot have a negative length"))
	}
	if axis == 0 {
		if single {
			return unflattenedEvenly(fn, x, counts)
		}
		t, err := FromRowLengths(x, counts)
		tenon.Throw(inNameOf(fn, err))
		return t
	}
	l := listsAt(x, axis)
	if single {
		n := cast(counts, l.p.DType())
		below := partitioned(l.values, evenRows(fn, l.p, n))
		lengths := ops.FloorDiv(l.p.RowLengths(), ops.Maximum(n, ops.OnesLike(n)))
		outer := newPartition(cast(rows.FromLengths(lengths), l.p.DType()), shape.Unknown)
		if l.p.IsUniform() {
			outer = newUniform(l.p.nrows, ops.FloorDiv(l.p.uniform, ops.Maximum(n, ops.OnesLike(n))))
		}
		return l.with(below, outer)
	}
	below, err := FromRowLengths(l.values, cast(counts, l.p.DType()))
	tenon.Throw(inNameOf(fn, err))
	return l.with(below, regrouped(fn, l.p, below.parts[0]))
}

// unflattenedEvenly divides the rows of x into groups of n.
func unflattenedEvenly(fn string, x, n tensor.Tensor) tensor.Tensor {
	size := outerSize(x)
	n = cast(n, size.DType())
	if k, m := known(size), known(n); k >= 0 && m >= 0 && (m == 0 && k > 0 || m > 0 && k%m != 0) {
		tenon.Throw(invalid(fn, "counts", "%d entries are not a whole number of rows of %d", k, m))
	}
	nrows := ops.FloorDiv(size, ops.Maximum(n, ops.OnesLike(n)))
	if _, ragged := x.(*Tensor); !ragged {
		dims := ops.Concat([]tensor.Tensor{ops.Stack([]tensor.Tensor{ops.Cast(nrows, dtype.Int64), ops.Cast(n, dtype.Int64)}, 0), tail(x)}, 0)
		return ops.Reshape(x, dims)
	}
	return partitioned(x, newUniform(nrows, n))
}

// tail returns the sizes of a dense tensor below its first dimension.
func tail(x tensor.Tensor) tensor.Tensor {
	s := x.Shape()
	if s.Tail(1).IsFull() {
		dims := make([]int64, 0, s.Rank()-1)
		for _, d := range s.Tail(1).Dims() {
			dims = append(dims, int64(d))
		}
		return tensor.Vector(dims)
	}
	return part(ops.Shape(x), 1, 0)
}

// evenRows returns the partition of the values of p into rows of equal length n, which must divide
// the length of every row of p.
func evenRows(fn string, p *RowPartition, n tensor.Tensor) *RowPartition {
	s, ok := p.Splits64()
	if m := known(n); ok && m >= 0 {
		for r := 1; r < len(s); r++ {
			if k := int(s[r] - s[r-1]); m == 0 && k > 0 || m > 0 && k%m != 0 {
				tenon.Throw(invalid(fn, fmtRow(r-1), "%d entries are not a whole number of rows of %d", k, m))
			}
		}
	}
	return newUniform(ops.FloorDiv(p.NVals(), ops.Maximum(n, ops.OnesLike(n))), n)
}

// regrouped returns the partition that groups the rows of q into the rows that p makes of the same
// values. An inner row must end where an outer one does; empty inner rows there belong to the outer
// row before or, at the start, to the first one.
func regrouped(fn string, p, q *RowPartition) *RowPartition {
	if n := q.StaticNRows(); n > 0 && p.StaticNRows() == 0 {
		tenon.Throw(invalid(fn, "counts", "make %d rows, and there is no row to hold them", n))
	}
	d := p.DType()
	limits := q.RowLimits()
	at := ops.SearchSorted(limits, p.RowSplits(), true)
	at = ops.Cast(at, d)
	first := part(at, 1, 0)
	ends := ops.Gather(q.RowSplits(), first, 0)
	if c, ok := op.Known(ops.Equal(ends, p.RowLimits())); ok {
		for r, same := range tensor.Data[bool](c) {
			if !same {
				tenon.Throw(invalid(fn, fmtRow(r), "ends inside a new row"))
			}
		}
	} else {
		rows.AssertSame(p.RowSplits(), ops.Concat([]tensor.Tensor{ops.Cast(tensor.Vector([]int64{0}), d), ends}, 0))
	}
	zero := ops.Cast(tensor.Vector([]int64{0}), d)
	return newPartition(ops.Concat([]tensor.Tensor{zero, first}, 0), shape.Unknown)
}

// ToRegular makes an axis uniform whose rows all have the same length. If no ragged axis is left,
// the result is dense. If rows differ, the error names the first one.
func ToRegular(x tensor.Tensor, axis int) (y tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	const fn = "ragged.ToRegular"
	a := axisIn(fn, x, axis)
	return alongMasks(x, a, func(x tensor.Tensor) tensor.Tensor { return toRegular(fn, x, a) }), nil
}

func toRegular(fn string, x tensor.Tensor, axis int) tensor.Tensor {
	t, ok := x.(*Tensor)
	if !ok || axis == 0 || axis > len(t.parts) {
		return x
	}
	parts := append([]*RowPartition(nil), t.parts...)
	if p := parts[axis-1]; !p.IsUniform() {
		if s, ok := p.Splits64(); ok {
			for r := 2; r < len(s); r++ {
				if s[r]-s[r-1] != s[1] {
					tenon.Throw(invalid(fn, fmtRow(r-1), "has %d entries, the row before it %d", s[r]-s[r-1], s[1]))
				}
			}
			parts[axis-1] = newUniform(p.NRows(), scalar(int(s[min(1, len(s)-1)]), p.DType()))
		} else {
			parts[axis-1] = newUniform(p.NRows(), rows.UniformLength(p.RowSplits()))
		}
	}
	return lists{dense: true}.settled(wrap(t.flat, parts))
}

// FromRegular makes an axis ragged whose rows have equal length.
func FromRegular(x tensor.Tensor, axis int) (y tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	return fromRegular(x, axisIn("ragged.FromRegular", x, axis)), nil
}

func fromRegular(x tensor.Tensor, axis int) tensor.Tensor {
	return alongMasks(x, axis, func(x tensor.Tensor) tensor.Tensor {
		if axis == 0 {
			return x
		}
		l := listsAt(x, axis)
		p := l.p
		if p.IsUniform() {
			p = newPartition(p.RowSplits(), p.nvals)
		}
		return l.with(l.values, p)
	})
}

// Count returns the number of elements that a reduction over axes combines, not counting missing
// ones. Without axes it counts all elements.
//
//	x: [n, (m)], axis 1 → int64[n]. No gradient.
func Count(x tensor.Tensor, axes ...int) (n tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	return ops.Sum(countable(x), axes...), nil
}

// CountKeep is [Count] with the reduced axes kept with size 1.
func CountKeep(x tensor.Tensor, axes ...int) (n tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	return ops.SumKeep(countable(x), axes...), nil
}

func countable(x tensor.Tensor) tensor.Tensor {
	if r, ok := x.(Records); ok {
		x = r.Numbers()
	}
	return ones(lifted(x))
}

// ones returns int64 ones for elements, and zeros for missing ones. Missing rows stay missing.
func ones(x tensor.Tensor) tensor.Tensor {
	m, ok := missing(x)
	if !ok {
		return like(x, int64(1))
	}
	if m.Mask().Shape().Rank() < m.Shape().Rank() {
		return withMask(ones(m.Values()), m.Mask())
	}
	return ops.Cast(m.Mask(), dtype.Int64)
}

// like returns a tensor like x with every element replaced by value.
func like(x tensor.Tensor, value any) tensor.Tensor {
	flat, parts := split(x)
	if s := flat.Shape(); s.IsFull() {
		return build(ops.Fill(s.Dims(), value), parts)
	}
	return build(ops.Fill(ops.Shape(flat), value), parts)
}
