package structured

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// How structural operations treat the entries of columns, which are the slices of a tensor of any
// kind along its first dimension. These functions throw errors.

// spread puts the entries of v, one for each true element of has, where has is true. Elsewhere the
// entry is missing.
func spread(v, has tensor.Tensor) tensor.Tensor {
	return hidden(fillBy(v, rows.FromLengths(ops.Cast(has, dtype.Int64))), has)
}

// hidden returns a column whose entries are present where mask is true.
func hidden(v, mask tensor.Tensor) tensor.Tensor {
	return tenon.Must(masked.New(v, mask))
}

// fillBy puts the entries of v into rows with one entry or none, and fills the others with zeros,
// empty strings and empty lists.
func fillBy(v, splits tensor.Tensor) tensor.Tensor {
	if d, ok := v.(*Dictionary); ok && known(sizeOf(d.words, dtype.Int64)) <= 0 {
		v = d.Decode() // there may be no word that can stand for a missing one
	}
	if out, ok := eachPiece(v, func(x tensor.Tensor) tensor.Tensor { return fillBy(x, splits) }); ok {
		return out
	}
	switch x := v.(type) {
	case *Tensor:
		if x.rank > 1 {
			p := spreadRows(x.parts[0], splits)
			return newTensor(x.rank, nil, append([]*ragged.RowPartition{p}, x.parts[1:]...), x.cols, x.dtype)
		}
		cols := eachColumn(x.cols, func(v tensor.Tensor) tensor.Tensor { return fillBy(v, splits) })
		return newTensor(1, ops.Sub(sizeOf(splits, x.dtype), ops.Cast(1, x.dtype)), nil, cols, x.dtype)
	case divided:
		return tenon.Must(ragged.FromPartition(undivided(x), spreadRows(x.Partitions()[0], splits)))
	}
	if v.Spec().TypeName() != tensor.TypeName { // an additional entry stands for missing ones
		has := ops.Greater(rows.Lengths(splits), int64(0))
		at := ops.Where(has, starts(splits), sizeOf(v, dtype.Int64))
		return ops.Gather(join([]tensor.Tensor{v, blankEntry(v)}), at, 0)
	}
	entries, _ := rows.Pick(v, splits, 0, nil)
	return entries
}

// spreadRows is spread for rows; missing rows are empty.
func spreadRows(p *ragged.RowPartition, splits tensor.Tensor) *ragged.RowPartition {
	lengths, _ := rows.Pick(p.RowLengths(), splits, 0, nil)
	return tenon.Must(ragged.PartitionFromRowLengths(lengths, ragged.PartitionOptions{}))
}

// grouped divides the entries of a column by a partition.
func grouped(v tensor.Tensor, p *ragged.RowPartition) tensor.Tensor {
	if out, ok := eachPiece(v, func(x tensor.Tensor) tensor.Tensor { return grouped(x, p) }); ok {
		return out
	}
	if s, ok := v.(*Tensor); ok {
		return tenon.Must(s.PartitionOuterDimension(p))
	}
	return tenon.Must(ragged.FromPartition(v, p))
}

// lists returns the entries of a column as lists: the partition that divides their elements, and
// the elements. It returns false if the entries are not lists. Missing lists are empty. The
// elements of a map are its values.
func lists(v tensor.Tensor) (p *ragged.RowPartition, elements tensor.Tensor, ok bool) {
	switch x := v.(type) {
	case *Map:
		if x.rec.rank == 1 {
			return lists(x.Values())
		}
	case *Tensor:
		if x.rank < 2 {
			return nil, nil, false
		}
		p = x.parts[0]
		return p, newTensor(x.rank-1, p.NVals(), x.parts[1:], x.cols, x.dtype), true
	case divided:
		return x.Partitions()[0], undivided(x), true
	case optional:
		if x.Mask().Shape().Rank() == 1 {
			return listsOf(x.Values(), x.Mask())
		}
	}
	if v.Shape().Rank() < 2 {
		return nil, nil, false
	}
	list, with, ok := pieces(v)
	if !ok {
		r, ok := asLists(v).(divided)
		if !ok {
			return nil, nil, false
		}
		return r.Partitions()[0], undivided(r), true
	}
	for i, x := range slices.Backward(list) { // the partition is that of the first
		if p, list[i], ok = lists(x); !ok {
			return nil, nil, false
		}
	}
	return p, with(list), true
}

// listsOf is lists with only those present for which mask is true, or all if it is nil; the others
// have no elements.
func listsOf(v, mask tensor.Tensor) (p *ragged.RowPartition, elements tensor.Tensor, ok bool) {
	p, elements, ok = lists(v)
	if mask == nil || !ok || emptyWhere(p, mask) {
		return p, elements, ok
	}
	left := gatherRows(asLists(v), ops.BooleanMask(upTo(sizeOf(v, dtype.Int64)), mask, 0))
	return lists(fillBy(left, rows.FromLengths(ops.Cast(mask, dtype.Int64))))
}

// emptyWhere reports whether the rows of a partition for which a mask is false are known to be
// empty.
func emptyWhere(p *ragged.RowPartition, mask tensor.Tensor) bool {
	splits, ok := p.Splits64()
	m, ok2 := op.Known(mask)
	if !ok || !ok2 {
		return false
	}
	for i, there := range tensor.Data[bool](m) {
		if !there && splits[i] != splits[i+1] {
			return false
		}
	}
	return true
}

// asLists returns a tensor of rank 2 or more in a form that has a partition.
func asLists(v tensor.Tensor) tensor.Tensor {
	switch v.(type) {
	case *Tensor, divided:
		return v
	}
	if out, ok := eachPiece(v, asLists); ok {
		return out
	}
	return tenon.Must(ragged.WithRaggedRank(v, 1))
}

// there returns the entries of a column, and the mask that says which of them are present, or nil
// if all are. What is missing inside the entries stays missing.
func there(v tensor.Tensor) (values, mask tensor.Tensor) {
	m, ok := v.(optional)
	if !ok || m.Mask().Shape().Rank() > 1 {
		return v, nil
	}
	return m.Values(), m.Mask()
}

// unmasked returns what is below all masks of a value, and a function that adds
// these masks to another value.
func unmasked(v tensor.Tensor) (values tensor.Tensor, with func(tensor.Tensor) tensor.Tensor) {
	m, ok := v.(optional)
	if !ok {
		return v, func(x tensor.Tensor) tensor.Tensor { return x }
	}
	values, below := unmasked(m.Values())
	return values, func(x tensor.Tensor) tensor.Tensor { return hidden(below(x), m.Mask()) }
}

// gatherRows returns entries of a column by number. Rows of records are gathered
// through their partitions, column by column, with the same index.
func gatherRows(v, at tensor.Tensor) tensor.Tensor {
	if out, ok := eachPiece(v, func(x tensor.Tensor) tensor.Tensor { return gatherRows(x, at) }); ok {
		return out
	}
	s, ok := v.(*Tensor)
	if !ok {
		return ops.Gather(v, at, 0)
	}
	n := sizeOf(at, s.dtype)
	parts := slices.Clone(s.parts)
	for i, p := range parts {
		parts[i], at = selectRows(p, at)
	}
	return newTensor(s.rank, n, withDType(parts, s.dtype), takeAll(s.cols, at, 0), s.dtype)
}

// selectRows selects rows of a partition by number. It returns the partition of the selected rows
// and the positions of their values.
func selectRows(p *ragged.RowPartition, at tensor.Tensor) (*ragged.RowPartition, tensor.Tensor) {
	splits, index := rows.GatherIndex(p.RowSplits(), at)
	return partitionOf(splits), index
}

// partitionOf returns the partition with row splits that were computed by an
// operation.
func partitionOf(splits tensor.Tensor) *ragged.RowPartition {
	return tenon.Must(ragged.PartitionFromRowSplits(splits, ragged.PartitionOptions{}))
}

// starts returns the first position of each row of row splits, int64.
func starts(splits tensor.Tensor) tensor.Tensor {
	return ops.Index(ops.Cast(splits, dtype.Int64), key.To(-1))
}

// upTo returns the integers from 0 up to, but not including, a scalar.
func upTo(n tensor.Tensor) tensor.Tensor {
	return ops.Range(int64(0), ops.Cast(n, dtype.Int64), int64(1))
}
