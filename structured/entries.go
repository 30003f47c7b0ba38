package structured

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// What structure operations do with the entries of columns: of a tensor of any kind
// the parts along its first dimension. They throw errors.

// spread puts the entries of v, of which there is one for each true of has, where has
// is true. Elsewhere the entry is missing: a scalar or list is masked there, a record
// has fields that are missing, and a list of records is empty.
func spread(v, has tensor.Tensor) tensor.Tensor {
	return spreadBy(v, rows.FromLengths(ops.Cast(has, dtype.Int64)), has)
}

// spreadBy is spread with the row splits of rows of one entry or none.
func spreadBy(v, splits, has tensor.Tensor) tensor.Tensor {
	switch x := v.(type) {
	case *Tensor:
		if x.rank > 1 {
			p := spreadRows(x.parts[0], splits)
			return newTensor(x.rank, nil, append([]*ragged.RowPartition{p}, x.parts[1:]...), x.cols, x.dtype)
		}
		cols := make([]column, len(x.cols))
		for i, c := range x.cols {
			cols[i] = column{name: c.name, v: spreadBy(c.v, splits, has), inner: c.inner}
		}
		return newTensor(1, sizeOf(has, x.dtype), nil, cols, x.dtype)
	case *masked.Tensor:
		values, mask := spreadBy(x.Values(), splits, has), x.Mask()
		if m, ok := values.(*masked.Tensor); ok {
			values = m.Values()
		}
		if r, ok := mask.(*ragged.Tensor); ok {
			return tenon.Must(masked.New(values, withFirst(r, spreadRows(r.Partition(), splits))))
		}
		there, _ := rows.Pick(mask, splits, 0, nil)
		return tenon.Must(masked.New(values, there))
	case *ragged.Tensor:
		return tenon.Must(masked.New(withFirst(x, spreadRows(x.Partition(), splits)), has))
	}
	entries, _ := rows.Pick(v, splits, 0, nil)
	return tenon.Must(masked.New(entries, has))
}

// spreadRows is spread for rows: those that are missing are empty.
func spreadRows(p *ragged.RowPartition, splits tensor.Tensor) *ragged.RowPartition {
	lengths, _ := rows.Pick(p.RowLengths(), splits, 0, nil)
	return tenon.Must(ragged.PartitionFromRowLengths(lengths, ragged.PartitionOptions{}))
}

// withFirst returns a ragged tensor with another outermost partition of its values.
func withFirst(r *ragged.Tensor, p *ragged.RowPartition) tensor.Tensor {
	return tenon.Must(ragged.FromPartition(r.Values(), p))
}

// grouped divides the entries of a column by a partition.
func grouped(v tensor.Tensor, p *ragged.RowPartition) tensor.Tensor {
	if s, ok := v.(*Tensor); ok {
		return tenon.Must(s.PartitionOuterDimension(p))
	}
	return tenon.Must(ragged.FromPartition(v, p))
}

// lists returns the entries of a column as lists: the partition that divides their
// elements, and these. It reports false where the entries are no lists. Missing lists
// are empty.
func lists(v tensor.Tensor) (p *ragged.RowPartition, elements tensor.Tensor, ok bool) {
	switch x := v.(type) {
	case *Tensor:
		if x.rank < 2 {
			return nil, nil, false
		}
		p = x.parts[0]
		return p, newTensor(x.rank-1, p.NVals(), x.parts[1:], x.cols, x.dtype), true
	case *ragged.Tensor:
		return x.Partition(), x.Values(), true
	case *masked.Tensor:
		if x.Values().Shape().Rank() < 2 || x.Mask().Shape().Rank() != 1 {
			break
		}
		// Only the lists that are there keep their elements.
		return lists(spreadLists(ops.BooleanMask(x.Values(), x.Mask(), 0), x.Mask()))
	}
	if v.Shape().Rank() < 2 {
		return nil, nil, false
	}
	if m, isMasked := v.(*masked.Tensor); isMasked {
		p, values, _ := lists(m.Values())
		_, mask, _ := lists(m.Full())
		return p, tenon.Must(masked.New(values, mask)), true
	}
	r, isRagged := tenon.Must(ragged.WithRaggedRank(v, 1)).(*ragged.Tensor)
	if !isRagged {
		return nil, nil, false
	}
	return r.Partition(), r.Values(), true
}

// spreadLists is spread for lists without a mask: those that are missing are empty.
func spreadLists(v, has tensor.Tensor) tensor.Tensor {
	r, ok := v.(*ragged.Tensor)
	if !ok {
		r = tenon.Must(ragged.WithRaggedRank(v, 1)).(*ragged.Tensor)
	}
	return withFirst(r, spreadRows(r.Partition(), rows.FromLengths(ops.Cast(has, dtype.Int64))))
}

// there returns the entries of a column without a mask, and the mask, nil where
// nothing can be missing.
func there(v tensor.Tensor) (values, mask tensor.Tensor) {
	m, ok := v.(*masked.Tensor)
	if !ok {
		return v, nil
	}
	return m.Values(), m.Full()
}

// selectRows is lists of some of the rows of a partition, by number: the partition of
// the rows that are left and the positions of their values.
func selectRows(p *ragged.RowPartition, at tensor.Tensor) (*ragged.RowPartition, tensor.Tensor) {
	splits, index := rows.GatherIndex(p.RowSplits(), at)
	return partitionOf(splits), index
}

// partitionOf returns the partition with row splits that an operation has made.
func partitionOf(splits tensor.Tensor) *ragged.RowPartition {
	return tenon.Must(ragged.PartitionFromRowSplits(splits, ragged.PartitionOptions{}))
}

// starts returns the first position of each row of row splits, int64.
func starts(splits tensor.Tensor) tensor.Tensor {
	return ops.Index(ops.Cast(splits, dtype.Int64), key.To(-1))
}

// upTo returns 0, 1, … below a scalar.
func upTo(n tensor.Tensor) tensor.Tensor {
	return ops.Range(int64(0), ops.Cast(n, dtype.Int64), int64(1))
}
