package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	kgather "github.com/tenonml/tenon/internal/kernel/gather"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// keyedBy selects by a tensor of positions or booleans.
func keyedBy(t *Tensor, by tenon.Value, rest []key.Key, dim int) tensor.Tensor {
	b, ok := by.(tensor.Tensor)
	if !ok || !taken(b) {
		tenon.Throw(failed(tenon.ErrUnsupported, indexFn, "", "a %s does not select", by.Spec().TypeName()))
	}
	r, ragged := b.(*Tensor)
	switch {
	case ragged && b.DType().IsBool():
		return keyedBelow(keptInRows(t, r), rest, len(r.parts)+1, dim)
	case ragged:
		return keyedBelow(takenInRows(t, r), rest, len(r.parts)+1, dim)
	case b.DType().IsBool():
		// Several dimensions are merged into one, so they must be uniform.
		n := b.Shape().Rank()
		if n < 1 {
			tenon.Throw(invalid(indexFn, "", "a single boolean cannot select"))
		}
		merged := outerMerged(t, n)
		if n > 1 {
			b = ops.Reshape(b, []int{-1})
		}
		checkMask(merged, b)
		return keyedInRows(gatherRows(merged, truePositions(b)), rest, dim)
	}
	n := cast(t.parts[0].NRows(), dtype.Int64)
	at, err := tenon.Try(func() tensor.Tensor { return rows.FromStart(asPositions(b), n) })
	tenon.Throw(inNameOf(indexFn, err))
	s := ShapeOf(at) // its axes replace the outermost dimension
	flat := reshapeTo(at, []size{s.slices(s.Rank() - 1)}, s.dtype)
	return underAxes(keyedInRows(gatherRows(t, flat), rest, dim), s)
}

// underAxes replaces the outermost dimension of t by the axes of a dense shape.
func underAxes(t tensor.Tensor, s *Shape) tensor.Tensor {
	if s.Rank() == 1 {
		return t
	}
	if _, ok := t.(*Tensor); !ok {
		sizes := innerSizes(s)
		for j := 1; j < t.Shape().Rank(); j++ {
			sizes = append(sizes, size{t.Shape().Dim(j), func() tensor.Tensor { return sizeOf(t, j, s.dtype) }})
		}
		return reshapeTo(t, sizes, s.dtype)
	}
	flat, parts := split(t)
	outer := s.withPartitions(s.Rank() - 1).parts
	all := make([]*RowPartition, 0, len(outer)+len(parts))
	return wrap(flat, sameDType(append(append(all, outer...), parts...)))
}

// checkMask throws an error unless there is one boolean for each row.
func checkMask(t tensor.Tensor, mask tensor.Tensor) {
	if n, m := outermostSize(t), mask.Shape().Dim(0); n >= 0 && m >= 0 && n != m {
		tenon.Throw(failed(tenon.ErrShape, indexFn, "", "there are %d booleans for %d rows", m, n))
	}
}

// outerMerged merges the n outer dimensions, which must be uniform, into one.
func outerMerged(t *Tensor, n int) tensor.Tensor {
	var out tensor.Tensor = t
	for range n - 1 {
		r, ok := out.(*Tensor)
		if !ok || !r.parts[0].IsUniform() {
			tenon.Throw(failed(tenon.ErrShape, indexFn, "", "a dense boolean tensor does not match a ragged dimension"))
		}
		out = r.Values()
	}
	return out
}

// keyedBelow applies keys below the first n dimensions.
func keyedBelow(t tensor.Tensor, keys []key.Key, n, dim int) tensor.Tensor {
	if len(keys) == 0 {
		return t
	}
	all := make([]key.Key, n-1, n-1+len(keys))
	for i := range all {
		all[i] = key.All
	}
	return keyedInRows(t, append(all, keys...), dim)
}

// keptInRows keeps those entries of each row for which a ragged boolean tensor is
// true.
func keptInRows(t, mask *Tensor) tensor.Tensor {
	k := len(mask.parts)
	if mask.flat.Shape().Rank() != 1 || k > len(t.parts) && k >= t.Shape().Rank() {
		tenon.Throw(invalid(indexFn, "", "booleans of shape %v do not match %v", mask.described(), t.described()))
	}
	x := atLeast(t, k).(*Tensor)
	parts := agreeing(x.parts[:k], mask.parts)
	values := build(x.flat, x.parts[k:])
	last := parts[k-1]
	splits := rows.MaskSplits(last.RowSplits(), mask.flat)
	if plain(values) && isDense(mask.flat) && mask.flat.Shape().Size() == values.Shape().Dim(0) {
		kept := ops.BooleanMask(values, mask.flat, 0) // in one pass, without the positions
		return onTop(kept, append(append([]*RowPartition(nil), parts[:k-1]...), newPartition(splits, kept.Shape().Dim(0))))
	}
	at := truePositions(mask.flat)
	out := append(append([]*RowPartition(nil), parts[:k-1]...), newPartition(splits, at.Shape().Dim(0)))
	return onTop(gatherRows(values, at), out)
}

// truePositions returns where a boolean vector is true.
func truePositions(mask tensor.Tensor) tensor.Tensor {
	d, ok := mask.(*tensor.Dense)
	if !ok || !d.IsContiguous() {
		return ops.Squeeze(ops.Nonzero(mask), 1)
	}
	bits := tensor.Data[bool](d)
	out, at := tensor.Make[int64](shape.Of(kgather.CountTrue(bits)))
	kgather.TrueAt(at, bits)
	return out
}

// takenInRows takes from each row the entries at the positions in the same row of a ragged integer
// tensor; negative ones count from the end.
func takenInRows(t, at *Tensor) tensor.Tensor {
	k := len(at.parts)
	if at.flat.Shape().Rank() != 1 || k >= t.Shape().Rank() {
		tenon.Throw(invalid(indexFn, "", "positions of shape %v do not match %v", at.described(), t.described()))
	}
	if !at.DType().IsInteger() {
		tenon.Throw(failed(tenon.ErrDType, indexFn, "", "positions are integers, not %v", at.DType()))
	}
	x := atLeast(t, k).(*Tensor)
	outer := at.parts
	if k > 1 {
		outer = append(agreeing(at.parts[:k-1], x.parts[:k-1]), at.parts[k-1])
	} else if n, m := x.parts[0].spec.nrows, at.parts[0].spec.nrows; n >= 0 && m >= 0 && n != m {
		tenon.Throw(failed(tenon.ErrShape, indexFn, "", "positions for %d rows, there are %d", m, n))
	}
	p, q := x.parts[k-1], outer[k-1]
	values := build(x.flat, x.parts[k:])
	taken, err := tenon.Try(func() tensor.Tensor {
		if plain(values) {
			return rows.Take(values, asPositions(at.flat), q.RowSplits(), p.as(q.DType()).RowSplits())
		}
		return gatherRows(values, rows.Places(asPositions(at.flat), q.RowSplits(), p.RowSplits()))
	})
	tenon.Throw(inNameOf(indexFn, err))
	return onTop(taken, outer)
}

// agreeing returns the partitions p, with the wider type of splits of the two, after checking that
// q has rows of the same lengths.
func agreeing(p, q []*RowPartition) []*RowPartition {
	b := &broadcasting{fn: indexFn}
	out := make([]*RowPartition, len(p))
	for i := range p {
		if out[i] = p[i]; samePartition(p[i], q[i]) {
			continue
		}
		d := widest([]*RowPartition{p[i], q[i]})
		out[i] = b.agree(i+1, p[i].as(d), q[i].as(d).RowSplits())
	}
	return sameDType(out)
}

// onTop adds partitions on top of values.
func onTop(values tensor.Tensor, parts []*RowPartition) tensor.Tensor {
	if len(parts) == 1 {
		return partitioned(values, parts[0])
	}
	flat, below := split(values)
	all := make([]*RowPartition, 0, len(parts)+len(below))
	return build(flat, sameDType(append(append(all, parts...), below...)))
}
