package ragged

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// knownMatrices are [matrices] in memory: what their sizes are is looked at, where the
// general way computes with tensors of sizes.
type knownMatrices struct {
	batch []*RowPartition // partitions outside of the matrices
	m, k  int             // rows and columns, the same number for all, where that is declared; -1 otherwise
	flat  *tensor.Dense   // all elements, whatever their shape says
}

// knownProduct is [matMul] for operands of one rank in memory with int64 row splits; nil where
// the general way has to be taken, which also says what is wrong.
func knownProduct(fn string, x, y tensor.Tensor, ta, tb bool) tensor.Tensor {
	if generalOnly {
		return nil
	}
	var room [2][32]int64
	a, as, ok := knownMatricesOf(x, room[0][:0])
	if !ok {
		return nil
	}
	b, bs, ok := knownMatricesOf(y, room[1][:0])
	if !ok || len(as) != len(bs) || len(a.batch) != len(b.batch) {
		return nil
	}
	for i, p := range a.batch {
		if p.spec.dtype != dtype.Int64 || b.batch[i].spec.dtype != dtype.Int64 || sameRows(fn, p, b.batch[i]) != nil {
			return nil
		}
	}
	for i := 0; i < len(as) && !ta && a.k < 0; i += 2 {
		if as[i] == 0 { // without rows there are as many columns as the other side asks for
			as[i+1] = bs[i]
			if tb {
				as[i+1] = bs[i+1]
			}
		}
	}
	flat := rows.MatMulKnown(a.flat, b.flat, as, bs, ta, tb)
	if flat == nil {
		return nil
	}
	out := knownMatrices{batch: a.batch, m: a.m, k: b.k, flat: flat}
	if ta {
		out.m = a.k
	}
	if tb {
		out.k = b.m
	}
	for i := 0; i < len(as); i += 2 { // the sizes of a become those of the products
		if ta {
			as[i] = as[i+1]
		}
		as[i+1] = bs[i+1]
		if tb {
			as[i+1] = bs[i]
		}
	}
	return out.tensor(as, rankOf(x) == 2 && rankOf(y) == 2)
}

// knownMatricesOf takes the two innermost dimensions of a tensor as matrices. The numbers of
// rows and columns of each are appended to sizes.
func knownMatricesOf(x tensor.Tensor, sizes []int64) (out knownMatrices, _ []int64, ok bool) {
	flat, parts := split(x)
	d, ok := flat.(*tensor.Dense)
	if !ok || !d.IsContiguous() {
		return out, nil, false
	}
	out = knownMatrices{flat: d, m: -1, k: -1}
	k := len(parts)
	if r := d.Rank(); k == 0 || r > 2 { // matrices of one size
		n := 1
		if k > 0 || r > 2 {
			all := atLeast(x, k+r-3)
			inner, batch := split(all)
			out.batch, n = batch, inner.Shape().Dim(0)
		}
		out.m, out.k = d.Dim(-2), d.Dim(-1)
		for range n {
			sizes = append(sizes, int64(out.m), int64(out.k))
		}
		return out, sizes, true
	}
	s, ok := parts[k-1].Splits64()
	if !ok || parts[k-1].spec.dtype != dtype.Int64 {
		return out, nil, false
	}
	if d.Rank() == 2 {
		out.batch, out.m, out.k = parts[:k-1], parts[k-1].StaticUniformRowLength(), d.Dim(1)
		for r := range s[1:] {
			sizes = append(sizes, s[r+1]-s[r], int64(out.k))
		}
		return out, sizes, true
	}
	one := [2]int64{0, int64(len(s) - 1)} // all rows are one matrix
	outer := one[:]
	out.m, out.k = parts[0].StaticNRows(), parts[k-1].StaticUniformRowLength()
	if k > 1 {
		if outer, ok = parts[k-2].Splits64(); !ok || parts[k-2].spec.dtype != dtype.Int64 || outer[len(outer)-1] != int64(len(s)-1) {
			return out, nil, false
		}
		out.batch, out.m = parts[:k-2], parts[k-2].StaticUniformRowLength()
	}
	for i := range outer[1:] {
		lo, hi := outer[i], outer[i+1]
		cols := int64(0)
		for r := lo; r < hi; r++ {
			if n := s[r+1] - s[r]; r == lo {
				cols = n
			} else if n != cols {
				return out, nil, false
			}
		}
		sizes = append(sizes, hi-lo, cols)
	}
	return out, sizes, true
}

// tensor puts matrices of certain sizes together: ragged where the sizes are, dense otherwise.
func (x *knownMatrices) tensor(sizes []int64, single bool) tensor.Tensor {
	n := len(sizes) / 2
	switch {
	case single:
		return x.flat.Reshaped(shape.Of(int(sizes[0]), int(sizes[1])))
	case x.m >= 0 && x.k >= 0:
		return buildOn(x.flat.Reshaped(shape.Of(n, x.m, x.k)), x.batch)
	}
	made, ends := makeFew(n)
	for i := range n {
		ends[i+1] = ends[i] + sizes[2*i]
	}
	total := int(ends[n])
	var p *RowPartition
	if x.m >= 0 {
		p = uniformOf(n, x.m, dtype.Int64)
	} else {
		p = made.partition()
	}
	if x.k >= 0 {
		return buildOn(partitioned(x.flat.Reshaped(shape.Of(total, x.k)), p), x.batch)
	}
	inner, at := makeFew(total)
	r := 0
	for i := range n {
		for range sizes[2*i] {
			at[r+1] = at[r] + sizes[2*i+1]
			r++
		}
	}
	return buildOn(wrap(x.flat, []*RowPartition{p, inner.partition()}), x.batch)
}
