package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/internal/kernel/str"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// PadOptions says how [PadMissing] pads. The zero value leaves rows that are longer as
// they are.
type PadOptions struct {
	Clip bool // longer rows are cut: all have the target length then
}

// PadMissing gives the rows of an axis at least as many entries as a target, those that
// are added being missing.
//
//	x: [n, (m)], target t, axis 1 → [n, (max(m, t))] with missing elements, [n, t] where longer rows are cut.
//	Gradient: the cotangent of the entries that there were.
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
		return tenon.Must(throughNumbers(r, func(at tensor.Tensor) (tensor.Tensor, error) { return paddedTo(at, target, axis, o), nil }))
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
	pad := func(q *RowPartition, at, there tensor.Tensor) func(v tensor.Tensor) tensor.Tensor {
		return throughMasks(func(v tensor.Tensor) tensor.Tensor {
			m := listsAt(v, axis)
			m.dense = l.dense
			return m.with(takeOrNothing(m.values, at, there), q)
		})
	}
	if mask == nil {
		if out, there, q := movedPadding(l, target, o); out != nil {
			return withMask(l.with(out, q), l.with(there, q))
		}
	}
	if q, at, there, ok := knownPadding(l.p, target, o); ok {
		return paddedFrom(values, mask, depth, axis+1, pad(q, at, there), l.with(there, q))
	}
	d := l.p.DType()
	var q *RowPartition
	goal := scalar(target, d)
	switch {
	case o.Clip:
		q = newUniform(l.p.NRows(), goal)
	case l.p.IsUniform():
		q = newUniform(l.p.NRows(), larger(l.p.uniform, goal))
	default:
		q = newPartition(cast(rows.FromLengths(ops.Maximum(l.p.RowLengths(), goal)), d), shape.Unknown)
	}
	within := q.OffsetsInRows()
	rowOf := func(v tensor.Tensor) tensor.Tensor { return rows.Repeat(v, q.RowSplits(), q.nvals) }
	there := ops.Less(within, rowOf(l.p.RowLengths()))
	at := ops.Cast(ops.Add(rowOf(l.p.RowStarts()), within), dtype.Int64)
	return paddedFrom(values, mask, depth, axis+1, pad(q, at, there), l.with(there, q))
}

// manyToPad is the number of entries from which moving whole rows pays.
const manyToPad = 256

// movedPadding pads many rows of values in memory by moving whole rows, without saying
// where each entry comes from: it returns the values, which of them there were, and
// their partition; nil where the general way has to be taken.
func movedPadding(l lists, target int, o PadOptions) (out, there tensor.Tensor, q *RowPartition) {
	s, ok := l.p.Splits64()
	if !ok || l.p.DType() != dtype.Int64 || target > 1<<31 || len(s)-1 > (1<<31)/max(target, 1) || l.p.IsUniform() && !o.Clip {
		return nil, nil, nil
	}
	n := len(s) - 1
	nvals := int(s[n])
	if n*target+nvals < manyToPad || nvals > 1<<31 { // the general way checks whether memory holds so many
		return nil, nil, nil
	}
	splits := l.p.RowSplits()
	if o.Clip {
		if !inMemory(l.values) || l.values.Shape().Dim(0) != nvals {
			return nil, nil, nil
		}
		x := rows.ToDense(l.values, splits, target, nil)
		bits, present := tensor.Make[bool](shape.Of(n * target))
		segment.Present(present, nil, s, target)
		return ops.Reshape(x, shape.Concat(shape.Of(n*target), x.Shape().Tail(2))), bits, newUniform(l.p.NRows(), scalar(target, dtype.Int64))
	}
	padded, ends := tensor.Make[int64](shape.Of(n + 1))
	segment.FillUpSplits(ends, s, target)
	more := rows.Trusted(padded, ends)
	if out = filledUp(l.values, splits, s, more, ends, target); out == nil {
		return nil, nil, nil
	}
	bits, present := tensor.Make[bool](shape.Of(int(ends[n])))
	segment.Present(present, ends, s, target)
	return out, bits, newPartition(more, int(ends[n]))
}

// filledUp returns values in memory with filler behind the rows of splits that are shorter
// than a target, which become those of more; nil for values of other kinds.
func filledUp(values, splits tensor.Tensor, s []int64, more tensor.Tensor, ends []int64, target int) tensor.Tensor {
	n := len(s) - 1
	if t, ok := values.(*Tensor); ok {
		// Filler is rows without values.
		p := t.parts[0]
		if p.IsUniform() || p.DType() != dtype.Int64 {
			return nil
		}
		lengths := filledUp(p.RowLengths(), splits, s, more, ends, target)
		if lengths == nil {
			return nil
		}
		return partitioned(t.Values(), newPartition(rows.FromLengths(lengths), t.Values().Shape().Dim(0)))
	}
	if !inMemory(values) || values.Shape().Dim(0) != int(s[n]) {
		return nil
	}
	whole := values.Shape().With(0, int(ends[n]))
	if x, ok := values.(*tensor.Dense); ok && x.IsContiguous() {
		out := tensor.Uninit(x.DType(), whole)
		segment.FillUp(out.Bytes(), ends, x.Bytes(), s, target, x.Shape().Tail(1).Size()*x.DType().Size())
		return out
	}
	tails, rest := tensor.Make[int64](shape.Of(n + 1))
	for r, end := range ends {
		rest[r] = end - s[r]
	}
	filler := ops.Zeros(values.DType(), whole.With(0, int(rest[n])))
	out, _ := rows.Concat([]tensor.Tensor{values, filler}, []tensor.Tensor{splits, rows.Trusted(tails, rest)})
	return out
}

// inMemory reports whether x is a dense tensor whose elements are there.
func inMemory(x tensor.Tensor) bool {
	switch x.(type) {
	case *tensor.Dense, *tensor.Strings:
		return true
	}
	return false
}

// knownPadding returns the partition of padded rows, for each of their entries where it
// comes from, and whether it comes from anywhere, for rows in memory.
func knownPadding(p *RowPartition, target int, o PadOptions) (q *RowPartition, at, there tensor.Tensor, ok bool) {
	s, ok := p.Splits64()
	if !ok || p.DType() != dtype.Int64 || target > 1<<31 || len(s)-1 > (1<<40)/max(target, 1) {
		return nil, nil, nil, false
	}
	splits, ends := tensor.Make[int64](shape.Of(len(s)))
	ends[0] = 0
	for r := range len(s) - 1 {
		n := s[r+1] - s[r]
		if o.Clip || n < int64(target) {
			n = int64(target)
		}
		ends[r+1] = ends[r] + n
	}
	total := int(ends[len(s)-1])
	if total > 1<<31 { // what follows checks whether memory holds it
		return nil, nil, nil, false
	}
	from, places := tensor.Make[int64](shape.Of(total))
	mask, bits := tensor.Make[bool](shape.Of(total))
	for r := range len(s) - 1 {
		for i := ends[r]; i < ends[r+1]; i++ {
			k := i - ends[r]
			places[i], bits[i] = s[r]+k, k < s[r+1]-s[r]
		}
	}
	switch length := known(p.uniform); {
	case o.Clip:
		q = newUniform(p.NRows(), scalar(target, dtype.Int64))
	case p.IsUniform() && length >= 0:
		q = newUniform(p.NRows(), scalar(max(length, target), dtype.Int64))
	case p.IsUniform():
		return nil, nil, nil, false
	default:
		q = newPartition(rows.Trusted(splits, ends), total)
	}
	return q, from, mask, true
}

// larger returns the larger of two sizes.
func larger(a, b tensor.Tensor) tensor.Tensor {
	if n, m := known(a), known(b); n >= 0 && m >= 0 {
		return scalar(max(n, m), a.DType())
	}
	return ops.Maximum(a, b)
}

// paddedFrom pads values whose mask has depth dimensions at the dimension that new masks
// have, where there says what was there before.
func paddedFrom(values, mask tensor.Tensor, depth, at int, pad func(tensor.Tensor) tensor.Tensor, there tensor.Tensor) tensor.Tensor {
	switch {
	case mask == nil:
		return withMask(pad(values), there)
	case depth == at:
		return withMask(pad(values), ops.LogicalAnd(there, pad(mask)))
	}
	return withMask(withMask(pad(values), pad(mask)), there)
}

// throughMasks returns f for tensors that may lack elements, whose values and masks it
// treats alike.
func throughMasks(f func(x tensor.Tensor) tensor.Tensor) func(x tensor.Tensor) tensor.Tensor {
	return func(x tensor.Tensor) tensor.Tensor {
		if m, ok := x.(*masked.Tensor); ok {
			return withMask(throughMasks(f)(m.Values()), throughMasks(f)(m.Mask()))
		}
		return f(x)
	}
}

// takeOrNothing returns the rows of v at positions, and filler where none is there.
func takeOrNothing(v, at, there tensor.Tensor) tensor.Tensor {
	if m, ok := v.(*masked.Tensor); ok {
		return withMask(takeOrNothing(m.Values(), at, there), takeOrNothing(m.Mask(), at, there))
	}
	if r, ok := v.(Records); ok {
		n := r.Numbers()
		at = ops.Where(there, at, ops.Cast(outerSize(n), dtype.Int64))
		return tenon.Must(r.AtNumbers(withMask(ops.Gather(withFiller(n), at, 0), there))).(*masked.Tensor).Values()
	}
	if out := shortTake(v, at, there); out != nil {
		return out
	}
	n := ops.Cast(outerSize(v), dtype.Int64)
	return gatherRows(withFiller(v), ops.Where(there, at, n))
}

// shortTake is takeOrNothing for what is in memory; nil where the general way has to be taken.
func shortTake(v, at, there tensor.Tensor) tensor.Tensor {
	x, ok := v.(*tensor.Dense)
	i, ok2 := at.(*tensor.Dense)
	m, ok3 := there.(*tensor.Dense)
	if s, places := flatStrings(v), int64s(at); s != nil && ok3 && places != nil && m.DType() == dtype.Bool && m.IsContiguous() {
		if c, ok := str.GatherWhere(str.Column{Offsets: s.Offsets(), Bytes: s.Buffer()}, places, tensor.Data[bool](m)); ok {
			return tensor.WrapStrings(c.Offsets, c.Bytes, shape.Of(len(places)))
		}
	}
	if !ok || !ok2 || !ok3 || !x.IsContiguous() || !i.IsContiguous() || !m.IsContiguous() || i.Rank() != 1 || m.Rank() != 1 || i.DType() != dtype.Int64 {
		return nil
	}
	positions, bits := tensor.Data[int64](i), tensor.Data[bool](m)
	s := x.Shape().With(0, len(positions))
	if _, err := s.CheckedSize(x.DType().Size()); err != nil || len(bits) != len(positions) {
		return nil
	}
	out := tensor.NewDense(x.DType(), s)
	size := x.Shape().Tail(1).Size() * x.DType().Size()
	dst, src, n := out.Bytes(), x.Bytes(), int64(x.Dim(0))
	for k, from := range positions {
		if !bits[k] {
			continue
		}
		if from < 0 || from >= n {
			return nil
		}
		copy(dst[k*size:(k+1)*size], src[int(from)*size:])
	}
	return out
}

// flatStrings returns v as a vector of strings, nil where it is none.
func flatStrings(v tensor.Tensor) *tensor.Strings {
	if s, ok := v.(*tensor.Strings); ok && s.Shape().Rank() == 1 {
		return s
	}
	return nil
}

// withFiller adds a row that stands for a missing one behind all others: zeros, or an
// empty row.
func withFiller(v tensor.Tensor) tensor.Tensor {
	if t, ok := v.(*Tensor); ok {
		if p := t.parts[0]; p.IsUniform() {
			return partitioned(withFillers(t.Values(), p.uniform), newUniform(sum(p.NRows(), scalar(1, p.DType())), p.uniform))
		}
		return withEmptyRow(t)
	}
	return withFillers(v, scalar(1, dtype.Int64))
}

// withFillers adds n rows of filler.
func withFillers(v, n tensor.Tensor) tensor.Tensor {
	if t, ok := v.(*Tensor); ok {
		p := t.parts[0]
		if p.IsUniform() {
			return partitioned(withFillers(t.Values(), product(p.uniform, n)), newUniform(sum(p.NRows(), n), p.uniform))
		}
		more := filled(ops.Cast(n, p.DType()), p.NVals())
		return partitioned(t.Values(), newPartition(ops.Concat([]tensor.Tensor{p.RowSplits(), more}, 0), p.nvals))
	}
	dims := ops.Concat([]tensor.Tensor{ops.Reshape(ops.Cast(n, dtype.Int64), []int{1}), tail(v)}, 0)
	return ops.Concat([]tensor.Tensor{v, ops.Zeros(v.DType(), dims)}, 0)
}

// Firsts returns the first entry of each row of an axis, missing where the row is empty.
//
//	x: [n, (m), a] → [n, a] at axis 1 with missing entries. Gradient: of the entries.
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
		return tenon.Must(throughNumbers(r, func(at tensor.Tensor) (tensor.Tensor, error) { return firsts(at, axis), nil }))
	}
	values, mask, depth := maskedAt(x)
	if mask != nil && depth <= axis {
		return withMask(firsts(values, axis), mask)
	}
	l := listsAt(withoutMask(values), axis)
	at, there := heads(l.p)
	take := throughMasks(func(v tensor.Tensor) tensor.Tensor {
		m := listsAt(v, axis)
		m.dense = l.dense
		return m.settled(onTop(takeOrNothing(m.values, at, there), m.outer))
	})
	return paddedFrom(values, mask, depth, axis, take, l.settled(build(there, l.outer)))
}

// heads returns where the rows begin, and which of them have an entry.
func heads(p *RowPartition) (at, there tensor.Tensor) {
	at = cast(p.RowStarts(), dtype.Int64)
	s, ok := p.Splits64()
	if !ok {
		return at, ops.Greater(p.RowLengths(), scalar(0, p.DType()))
	}
	mask, bits := tensor.Make[bool](shape.Of(len(s) - 1))
	for r := range bits {
		bits[r] = s[r+1] > s[r]
	}
	return at, mask
}

// Singletons makes a row of each entry of an axis: of one entry, or of none where it is
// missing.
//
//	x: [n, a] with missing entries, axis 0 → [n, (0 or 1), a]. Gradient: of the entries.
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
	if m, ok := values.(*masked.Tensor); ok {
		return withMask(singletons(withMask(m.Values(), mask), axis), singletons(withMask(m.Mask(), mask), axis))
	}
	flat, parts := split(atLeast(mask, axis))
	p := oneOrNone(flat)
	if axis == 0 {
		return onParts(ops.BooleanMask(values, mask, 0), []*RowPartition{p})
	}
	return onParts(ops.BooleanMask(belowParts(values, axis), flat, 0), append(append([]*RowPartition(nil), parts...), p))
}

// oneOrNone returns the partition of as many rows as a mask has entries: rows of one value
// where the mask is true, and of none elsewhere.
func oneOrNone(mask tensor.Tensor) *RowPartition {
	return newPartition(rows.FromLengths(ops.Cast(mask, dtype.Int64)), shape.Unknown)
}
