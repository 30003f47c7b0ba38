package structured

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// elementsOf splits a column of lists into the elements of all lists, concatenated, and the row
// splits that divide them.
func elementsOf(v tensor.Tensor) (below, splits tensor.Tensor) {
	p, below, ok := lists(v)
	if !ok {
		tenon.Throw(invalid("structured", "", "%s does not contain lists", tenon.String(v.Spec())))
	}
	return below, ops.Cast(p.RowSplits(), dtype.Int64)
}

// identities returns vectors of numbers, booleans and strings, with one element for each entry of a
// column. Two entries are equal if and only if their elements are equal in all vectors. All NaNs
// are equal here, and so are missing entries.
func identities(v tensor.Tensor) []tensor.Tensor {
	switch x := v.(type) {
	case *Union:
		if x.rec.rank > 1 {
			break
		}
		tags := x.rec.cols[0].v()
		out := []tensor.Tensor{tags}
		for k, c := range x.rec.cols[1:] {
			own := ops.Equal(tags, ops.Cast(k, dtype.Int8))
			out = append(out, ops.Where(own, identity(c.v()), int64(-1)))
		}
		return out
	case optional:
		if x.Mask().Shape().Rank() == 1 {
			return []tensor.Tensor{ops.Where(x.Mask(), identity(x.Values()), int64(-1))}
		}
	case *Map:
		if x.rec.rank == 1 {
			return identities(x.canonical().cols[0].v())
		}
	case *Dictionary:
		if x.Shape().Rank() == 1 {
			return []tensor.Tensor{x.Decode()}
		}
	case *Tensor:
		if x.rank == 1 {
			var out []tensor.Tensor
			for _, c := range x.cols {
				out = append(out, identities(c.v())...)
			}
			if len(out) == 0 {
				out = append(out, ops.Fill(ops.ExpandDims(ops.Cast(x.nrows, dtype.Int64), 0), false))
			}
			return out
		}
	}
	v = denser(v)
	if isOther(v) {
		var out []tensor.Tensor
		for _, p := range rowParts(v) {
			out = append(out, identities(p)...)
		}
		return out
	}
	if v.Shape().Rank() == 1 {
		return []tensor.Tensor{v}
	}
	below, splits := elementsOf(v)
	return []tensor.Tensor{rows.ReduceJoin(ops.AsString(identity(below), ops.FormatOptions{}), splits, ",")}
}

// identity returns the identities as a single int64 vector: equal entries have equal numbers,
// starting at 0.
func identity(v tensor.Tensor) tensor.Tensor {
	ids, _, _ := rows.Group(anys(identities(v))...)
	return ids
}

// sameEntries reports, for each pair of entries of two columns of equal length, whether they are
// equal. NaN equals nothing; missing entries equal each other.
func sameEntries(a, b tensor.Tensor) tensor.Tensor {
	switch x := a.(type) {
	case *Map:
		if y, ok := b.(*Map); ok && x.rec.rank == 1 {
			return sameEntries(x.canonical().cols[0].v(), y.canonical().cols[0].v())
		}
	case *Dictionary:
		return sameEntries(x.Decode(), b)
	case *Union:
		y, ok := b.(*Union)
		if !ok || x.rec.rank > 1 {
			break
		}
		tags := x.rec.cols[0].v()
		out := ops.Equal(tags, y.rec.cols[0].v())
		for k, c := range x.rec.cols[1:] {
			other := ops.NotEqual(tags, ops.Cast(k, dtype.Int8))
			out = ops.LogicalAnd(out, ops.LogicalOr(other, sameEntries(c.v(), y.rec.cols[k+1].v())))
		}
		return out
	case *Tensor:
		y, ok := b.(*Tensor)
		if !ok || x.rank > 1 {
			break
		}
		out := ops.Fill(ops.ExpandDims(ops.Cast(x.nrows, dtype.Int64), 0), true)
		for _, c := range x.cols {
			out = ops.LogicalAnd(out, sameEntries(c.v(), y.cols[y.find(c.name)].v()))
		}
		return out
	}
	if d, ok := b.(*Dictionary); ok {
		return sameEntries(a, d.Decode())
	}
	x, p := there(a)
	y, q := there(b)
	if p != nil || q != nil {
		p, q = allOr(x, p), allOr(y, q)
		return ops.LogicalAnd(ops.Equal(p, q), ops.LogicalOr(ops.LogicalNot(p), sameEntries(x, y)))
	}
	a, b = denser(a), denser(b)
	if isOther(a) && isOther(b) {
		p, q := rowParts(a), rowParts(b)
		if _, ok := tenon.Merge(outermost(a.Spec(), shape.Unknown), outermost(b.Spec(), shape.Unknown)); !ok || len(p) != len(q) {
			tenon.Throw(invalid("ops.Equal", "", "%s and %s have different types", tenon.String(a.Spec()), tenon.String(b.Spec())))
		}
		out := ops.Fill(ops.ExpandDims(sizeOf(p[0], dtype.Int64), 0), true)
		for i := range p {
			out = ops.LogicalAnd(out, sameEntries(p[i], q[i]))
		}
		return out
	}
	if a.Shape().Rank() == 1 {
		return ops.Equal(a, b)
	}
	return sameLists(a, b)
}

// denser returns the elements as a dense tensor if their type is one whose sums are dense, such as
// a sparse tensor: these are compared element by element, including zeros.
func denser(v tensor.Tensor) tensor.Tensor {
	if !isOther(v) {
		return v
	}
	d, err := tenon.Try(func() tensor.Tensor { return ops.Sum(ops.ExpandDims(v, 0), 0) })
	if err != nil || d.Spec().TypeName() != tensor.TypeName || d.Shape().Rank() != v.Shape().Rank() {
		return v
	}
	return d
}

// allOr returns the mask of entries, or one that is true for all if it is nil.
func allOr(v, mask tensor.Tensor) tensor.Tensor {
	if mask != nil {
		return mask
	}
	return allThere(v, 1)
}

// sameLists is sameEntries for lists: lists of equal length are compared element
// by element.
func sameLists(a, b tensor.Tensor) tensor.Tensor {
	_, p := elementsOf(a)
	_, q := elementsOf(b)
	fit := ops.Equal(rows.Lengths(p), rows.Lengths(q))
	at := ops.Reshape(ops.Nonzero(fit), []int{-1})
	x, splits := elementsOf(ops.Gather(a, at, 0))
	y, _ := elementsOf(ops.Gather(b, at, 0))
	equal := rows.All(sameEntries(x, y), splits)
	// Lists of different lengths get their answer from an additional entry at the
	// end.
	answers := ops.Concat([]tensor.Tensor{equal, tensor.Of([]bool{false})}, 0)
	count := ops.Cast(ops.Index(ops.Shape(at), 0), dtype.Int64)
	number := ops.Sub(ops.CumSum(ops.Cast(fit, dtype.Int64), 0, ops.CumOptions{}), int64(1))
	return ops.Gather(answers, ops.Where(fit, number, count), 0)
}

// isOther reports whether entries are of a type that is neither dense, ragged nor of this package,
// so that only their components are known here.
func isOther(v tensor.Tensor) bool {
	if _, _, ok := pieces(v); ok {
		return false
	}
	n := v.Spec().TypeName()
	return n != tensor.TypeName && n != ragged.TypeName && n != TypeName
}

// rowParts returns the tensors that rows consist of, with one entry for each row.
func rowParts(v tensor.Tensor) []tensor.Tensor {
	var out []tensor.Tensor
	var add func(v tenon.Value)
	add = func(v tenon.Value) {
		s := v.Spec()
		b, ok := s.(tenon.Batcher)
		if !ok {
			tenon.Throw(failed(tenon.ErrUnsupported, "structured", "", "%s has no rows", tenon.String(s)))
		}
		row := tenon.Must(b.Unbatched()).Components()
		for i, p := range tenon.Must(s.Disassemble(v)) {
			t, ok := p.(tensor.Tensor)
			switch {
			case tenon.Equal(p.Spec(), row[i].Spec): // shared by all rows
			case ok && !isOther(t):
				out = append(out, t)
			default:
				add(p)
			}
		}
	}
	if h, ok := v.(*Held); ok {
		add(h.v)
	} else {
		add(v)
	}
	return out
}
