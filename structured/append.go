package structured

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

const concatFn = "structured.Concat"

// Concat concatenates the records of several tensors, such as those of several files or batches.
// The tensors need not have the same fields and element types:
//
//   - Fields are matched by name, at any depth, in the order of their first appearance.
//     A field that some tensors lack is missing in their records; the result is a tensor
//     of package masked.
//   - Element types are promoted. Integers combined with floating-point numbers become
//     float64; it is an error if that would change one.
//   - A field without any present values takes the type that it has elsewhere; words of
//     dictionaries are combined with other strings.
//
// Text and numbers, records and lists, and other types without a common type are an error with the
// path. ops.Concat joins tensors that have the same fields and types.
//
//	{a: int32}, {a: int64, b: string} → {a: int64, b: ?string}
func Concat(tables ...*Tensor) (out *Tensor, err error) {
	defer tenon.Catch(&err)
	if len(tables) == 0 {
		return nil, invalid(concatFn, "", "there are no records")
	}
	for i, t := range tables {
		switch {
		case t == nil:
			return nil, invalid(concatFn, "", "the tensor %d is nil", i)
		case t.rank == 0:
			return nil, invalid(concatFn, "", "the tensor %d is a single record, which has no rows", i)
		case t.rank != tables[0].rank:
			return nil, invalid(concatFn, "", "the tensors have ranks %d and %d", tables[0].rank, t.rank)
		}
	}
	return ops.Concat(conformed(nil, tables), 0).(*Tensor), nil
}

// conformed returns the tensors with the fields of all of them, each with a
// common type.
func conformed(path []string, ts []*Tensor) []*Tensor {
	var names []string
	for _, t := range ts {
		for _, c := range t.cols {
			if !slices.Contains(names, c.name) {
				names = append(names, c.name)
			}
		}
	}
	cols := make([][]column, len(ts))
	for _, name := range names {
		parts, inner := make([]tensor.Tensor, len(ts)), allPlain
		for i, t := range ts {
			if k := t.find(name); k >= 0 {
				parts[i] = t.rows()[k].v()
				inner = min(inner, t.cols[k].inner)
			}
		}
		at := append(path[:len(path):len(path)], name)
		parts = sameType(at, parts, func(i int) tensor.Tensor { return ops.Cast(ts[i].count(), dtype.Int64) })
		for i, v := range parts {
			cols[i] = append(cols[i], column{name: name, now: v, inner: inner})
		}
	}
	out := make([]*Tensor, len(ts))
	for i, t := range ts {
		out[i] = newTensor(t.rank, t.nrows, t.parts, cols[i], t.dtype)
	}
	return out
}

// sameType converts columns to a common type. A column that is nil, or has no present values, gets
// as many missing entries as count returns.
func sameType(path []string, parts []tensor.Tensor, count func(i int) tensor.Tensor) []tensor.Tensor {
	values, with := make([]tensor.Tensor, len(parts)), make([]func(tensor.Tensor) tensor.Tensor, len(parts))
	like := -1 // among columns that have values
	for pass := range 2 {
		for i, v := range parts {
			if v == nil || values[i] != nil || pass == 0 && hasNothing(v) {
				continue
			}
			if pass == 0 || like < 0 {
				values[i], with[i] = unmasked(v)
				like = i
			}
		}
	}
	var there []tensor.Tensor
	for _, v := range values {
		if v != nil {
			there = append(there, v)
		}
	}
	there = oneType(path, there)
	none := gatherRows(there[0], tensor.Of([]int64{}))
	out := make([]tensor.Tensor, len(parts))
	for i := range parts {
		if values[i] == nil {
			out[i] = spread(none, ops.Fill(ops.ExpandDims(count(i), 0), false))
			continue
		}
		out[i] = with[i](there[0])
		there = there[1:]
	}
	return out
}

// hasNothing reports whether all entries of a column are known to be missing.
func hasNothing(v tensor.Tensor) bool {
	m, ok := v.(optional)
	if !ok {
		return false
	}
	d, ok := m.Mask().(*tensor.Dense)
	return ok && d.Shape().Rank() == 1 && !slices.Contains(tensor.Data[bool](d), true)
}

// oneType converts columns without masks to a common type.
func oneType(path []string, values []tensor.Tensor) []tensor.Tensor {
	differ := func(a, b tensor.Tensor) {
		tenon.Throw(failed(tenon.ErrDType, concatFn, PathString(path), "is %s and %s, which have no common type", tenon.String(a.Spec()), tenon.String(b.Spec())))
	}
	switch values[0].(type) {
	case *Tensor, *Map:
		records := make([]*Tensor, len(values))
		for i, v := range values {
			switch x := v.(type) {
			case *Tensor:
				records[i] = x
			case *Map:
				records[i] = x.rec
			}
			if v.Spec().TypeName() != values[0].Spec().TypeName() || v.Shape().Rank() != values[0].Shape().Rank() {
				differ(values[0], v)
			}
		}
		out := slices.Clone(values)
		for i, r := range conformed(path, records) {
			out[i] = r
			if m, ok := values[i].(*Map); ok {
				out[i] = m.like(r)
			}
		}
		return out
	}
	d := values[0].DType()
	_, unions := values[0].(composite)
	for _, v := range values[1:] {
		_, records := v.(*Tensor)
		_, union := v.(composite)
		if records || union != unions || v.Shape().Rank() != values[0].Shape().Rank() {
			differ(values[0], v)
		}
		p, err := dtype.Promote(d, v.DType())
		if err != nil || comparisonKind(d) != comparisonKind(v.DType()) {
			differ(values[0], v)
		}
		if d.IsInteger() != v.DType().IsInteger() && !p.IsComplex() {
			p = dtype.Float64
		}
		d = p
	}
	out := slices.Clone(values)
	for i, v := range values {
		if v.DType() == d {
			continue
		}
		if v.DType().IsInteger() && d.IsFloat() {
			kept(path, v)
		}
		out[i] = ops.Cast(v, d)
	}
	return out
}

// kept throws an error if an integer of a column cannot be represented as
// float64.
func kept(path []string, v tensor.Tensor) {
	whole, exact := integers(ops.Cast(v, dtype.Float64), wideInteger(v.DType()))
	same := ops.LogicalAnd(exact, ops.Equal(whole, ops.Cast(v, wideInteger(v.DType()))))
	if all, ok := ops.All(same).(*tensor.Dense); ok && !tensor.Item[bool](all) {
		e := invalid(concatFn, PathString(path), "has integers beyond 2⁵³ that float64 cannot hold, and floating-point numbers elsewhere")
		e.Hint = "cast one of the two first"
		tenon.Throw(e)
	}
}
