package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Taking rows of any tensor, dense or ragged, on which indexing, gathering and
// splitting are built.

// sliceOuter returns the rows of t from lo up to, but not including, hi. Both are scalars with 0 <=
// lo <= hi, and hi is at most the number of rows. In memory nothing but splits is copied.
func sliceOuter(t tensor.Tensor, lo, hi tensor.Tensor) tensor.Tensor {
	if n, m := known(lo), known(hi); n >= 0 && m >= 0 {
		return rowsBetween(t, n, m)
	}
	r, ok := t.(*Tensor)
	if !ok {
		return ops.Index(t, key.Range(bound(lo), bound(hi), nil))
	}
	return sliceSymbolic(r, lo, hi)
}

// rowsBetween is sliceOuter for known bounds.
func rowsBetween(t tensor.Tensor, lo, hi int) tensor.Tensor {
	r, ok := t.(*Tensor)
	if !ok {
		return flatBetween(t, lo, hi)
	}
	if lo == 0 && hi == outermostSize(t) {
		return t
	}
	out := make([]*RowPartition, len(r.parts))
	for i, p := range r.parts {
		if p.IsUniform() && p.spec.length >= 0 {
			out[i] = newUniform(scalar(hi-lo, p.spec.dtype), p.uniform)
			lo, hi = lo*p.spec.length, hi*p.spec.length
			continue
		}
		s, ok := p.Splits64()
		if !ok || p.IsUniform() {
			d := p.spec.dtype
			rest := build(r.flat, r.parts[i:])
			rest = sliceSymbolic(rest.(*Tensor), scalar(lo, d), scalar(hi, d))
			flat, below := split(rest)
			return build(flat, append(out[:i:i], below...))
		}
		splits, entries := shifted(p.RowSplits().(*tensor.Dense), s, lo, hi)
		lo, hi = int(s[lo]), int(s[hi])
		out[i] = newPartition(rows.Trusted(splits, entries), hi-lo)
	}
	return build(flatBetween(r.flat, lo, hi), out)
}

// sliceSymbolic is sliceOuter for symbolic bounds or splits.
func sliceSymbolic(t *Tensor, lo, hi tensor.Tensor) tensor.Tensor {
	p := t.parts[0]
	d := p.spec.dtype
	lo, hi = cast(lo, d), cast(hi, d)
	if p.IsUniform() {
		return partitioned(sliceOuter(t.Values(), product(lo, p.uniform), product(hi, p.uniform)), newUniform(difference(hi, lo), p.uniform))
	}
	window := ops.Index(p.RowSplits(), key.Range(bound(lo), bound(sum(hi, scalar(1, d))), nil))
	first, last := ops.Index(window, 0), ops.Index(window, -1)
	return partitioned(sliceOuter(t.Values(), first, last), newPartition(ops.Sub(window, first), shape.Unknown))
}

// flatBetween returns rows of a tensor without partitions. In memory, nothing is copied.
func flatBetween(t tensor.Tensor, lo, hi int) tensor.Tensor {
	if s, ok := t.(*tensor.Strings); ok {
		inner := s.Shape().Tail(1).Size()
		return tensor.WrapStrings(s.Offsets()[lo*inner:hi*inner+1], s.Buffer(), s.Shape().With(0, hi-lo))
	}
	if d, ok := t.(*tensor.Dense); ok && d.Rank() == 1 && d.IsContiguous() && 0 <= lo && lo <= hi && hi <= d.Len() {
		return d.View(lo, shape.Of(hi-lo), unit)
	}
	return ops.Index(t, key.Range(lo, hi, nil))
}

var unit = []int{1} // the strides of a vector

// bound returns a scalar as a bound of a key: an int if its value is known.
func bound(t tensor.Tensor) any {
	if n := known(t); n >= 0 {
		return n
	}
	return t
}

// difference returns a-b.
func difference(a, b tensor.Tensor) tensor.Tensor {
	if n, m := known(a), known(b); n >= 0 && m >= 0 {
		return scalar(n-m, a.DType())
	}
	return ops.Sub(a, b)
}

// shifted returns the splits of the rows from lo up to, but not including, hi, starting at 0, in
// their own type and as int64.
func shifted(splits *tensor.Dense, s []int64, lo, hi int) (*tensor.Dense, []int64) {
	if s[lo] == 0 {
		return part(splits, lo, len(s)-1-hi).(*tensor.Dense), s[lo : hi+1]
	}
	out, entries := tensor.Make[int64](shape.Of(hi - lo + 1))
	first := s[lo]
	for i, x := range s[lo : hi+1] {
		entries[i] = x - first
	}
	if splits.DType() != out.DType() {
		return cast(out, splits.DType()).(*tensor.Dense), entries
	}
	return out, entries
}

// rowAt returns one row of a ragged tensor; a negative number counts from the end.
func rowAt(t *Tensor, k key.Key) tensor.Tensor {
	p := t.parts[0]
	if p.IsUniform() {
		lo := product(position(k, p.spec.nrows, p.nrows), p.uniform)
		return sliceOuter(t.Values(), lo, sum(lo, p.uniform))
	}
	i, ok, err := k.Position(p.spec.nrows)
	tenon.Throw(complete(err))
	if s, in := p.Splits64(); in && ok {
		return rowsBetween(t.Values(), int(s[i]), int(s[i+1]))
	}
	at := position(k, shape.Unknown, p.NRows())
	splits := p.RowSplits()
	return sliceOuter(t.Values(), ops.Index(splits, key.At(at)), ops.Index(splits, key.At(ops.Add(at, 1))))
}

// position returns the position that a key selects among n, which is static if it is known. In a
// graph, it is checked at run time.
func position(k key.Key, static int, n tensor.Tensor) tensor.Tensor {
	d := n.DType()
	i, ok, err := k.Position(static)
	tenon.Throw(complete(err))
	if ok {
		return scalar(i, d)
	}
	all := ops.Range(scalar(0, d), n, scalar(1, d))
	return ops.Index(all, k)
}

// sum returns a+b.
func sum(a, b tensor.Tensor) tensor.Tensor {
	if n, m := known(a), known(b); n >= 0 && m >= 0 {
		return scalar(n+m, a.DType())
	}
	return ops.Add(a, b)
}

// gatherRows returns rows of any tensor by number, a vector of integers: slices of a dense tensor,
// or whole rows of a ragged one. A number out of range is an error that names it.
func gatherRows(t tensor.Tensor, index tensor.Tensor) tensor.Tensor {
	r, ok := t.(*Tensor)
	if !ok {
		return ops.Gather(t, index, 0)
	}
	p := r.parts[0]
	if len(r.parts) == 1 && !p.IsUniform() && plain(r.flat) {
		flat, splits := rows.Gather(r.flat, p.RowSplits(), index)
		return wrapOne(flat, newPartition(splits, flat.Shape().Dim(0)))
	}
	if p.IsUniform() {
		return partitioned(gatherRows(r.Values(), spreadUniform(p, index)), newUniform(sizeOf(index, 0, p.spec.dtype), p.uniform))
	}
	splits, at := rows.GatherIndex(p.RowSplits(), index)
	return partitioned(gatherRows(r.Values(), at), newPartition(splits, at.Shape().Dim(0)))
}

// spreadUniform returns the positions of the values of rows of equal length, row by row.
func spreadUniform(p *RowPartition, index tensor.Tensor) tensor.Tensor {
	d := p.spec.dtype
	if index.Shape().Dim(0) == 0 {
		return ops.Fill([]int{0}, scalar(0, d)) // there are no rows, whatever their length is
	}
	checked := index
	if n := p.spec.nrows; p.spec.length == 0 || n < 0 {
		// If there are no values, nothing below would detect a row that does not
		// exist.
		checked = ops.Gather(ops.Range(scalar(0, d), p.nrows, scalar(1, d)), index, 0)
	}
	starts := ops.ExpandDims(ops.Mul(cast(checked, d), p.uniform), 1)
	within := ops.Range(scalar(0, d), p.uniform, scalar(1, d))
	at := ops.Add(starts, ops.ExpandDims(within, 0))
	n := shape.Unknown
	if m := index.Shape().Dim(0); m >= 0 && p.spec.length >= 0 {
		n = m * p.spec.length
	}
	if n >= 0 {
		return ops.Reshape(at, []int{n})
	}
	return ops.Reshape(at, ops.ExpandDims(ops.Mul(sizeOf(index, 0, d), p.uniform), 0))
}
