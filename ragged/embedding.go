package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// Combiner says how the rows of a table that a list of ids selects are combined.
type Combiner uint8

// The combiners. With weights w the sum is Σ w·row.
const (
	Lookup   Combiner = iota // not at all: each id gives its row
	SumRows                  // the sum
	MeanRows                 // the sum divided by Σ w
	SqrtRows                 // the sum divided by √Σ w²
)

// EmbeddingOptions says what [EmbeddingLookup] does with the rows that it looks
// up.
type EmbeddingOptions struct {
	Combiner Combiner

	// Weights has a weight for each id; nil means that all are one. It must be nil for Lookup.
	Weights *Tensor

	// MaxNorm is the largest Euclidean norm of a row; longer rows are scaled down. Zero means no
	// limit.
	MaxNorm float64
}

// EmbeddingLookup looks up rows of a table by ids. Without a combiner it returns a row for each id;
// with one, it combines the rows for each innermost row of ids, with zero for an empty row. An id
// that is not in the table is an error.
//
//	table: [n, d…], ids: int[b, (m)] → [b, (m), d…], combined [b, d…].
//	Gradients: for table and weights, without allocating a table of zeros for each row.
func EmbeddingLookup(table tensor.Tensor, ids *Tensor, o EmbeddingOptions) (y tensor.Tensor, err error) {
	const fn = "ragged.EmbeddingLookup"
	defer tenon.Catch(&err)
	if !ids.DType().IsInteger() || ids.flat.Shape().Rank() != 1 {
		return nil, invalid(fn, "ids", "are %v, want rows of integers", ids.described())
	}
	if table.Shape().Rank() < 1 {
		return nil, invalid(fn, "table", "is a scalar")
	}
	if o.MaxNorm < 0 {
		return nil, invalid(fn, "MaxNorm", "is %v", o.MaxNorm)
	}
	k := len(ids.parts)
	at := ops.Cast(ids.flat, dtype.Int64)
	if o.Combiner == Lookup {
		if o.Weights != nil {
			return nil, invalid(fn, "Weights", "are given without a combiner")
		}
		return ids.with(bounded(ops.Gather(table, at, 0), o.MaxNorm)), nil
	}
	w := tenon.Must(o.weights(fn, table, ids))
	splits := ids.parts[k-1].RowSplits()
	var sum tensor.Tensor
	if o.MaxNorm > 0 || table.Shape().Rank() != 2 {
		found := bounded(ops.Gather(table, at, 0), o.MaxNorm)
		sum = rows.Sum(ops.Mul(found, below(w, found)), splits)
	} else {
		sum = rows.EmbeddingBag(table, at, w, splits)
	}
	switch o.Combiner {
	case MeanRows:
		sum = over(sum, rows.Sum(w, splits))
	case SqrtRows:
		sum = over(sum, ops.Sqrt(rows.Sum(ops.Square(w), splits)))
	}
	return build(sum, ids.parts[:k-1]), nil
}

// weights returns a weight for each id.
func (o EmbeddingOptions) weights(fn string, table tensor.Tensor, ids *Tensor) (tensor.Tensor, error) {
	if o.Weights == nil {
		if n := ids.flat.Shape().Dim(0); n >= 0 {
			return ops.Ones(table.DType(), []int{n}), nil
		}
		return ops.Cast(ops.OnesLike(ids.flat), table.DType()), nil
	}
	if len(o.Weights.parts) != len(ids.parts) {
		return nil, invalid(fn, "Weights", "are %v, the ids %v", o.Weights.described(), ids.described())
	}
	samePartitions(fn, ids.parts, o.Weights.parts)
	return ops.Cast(o.Weights.flat, table.DType()), nil
}

// bounded scales down rows whose norm exceeds a limit; 0 means no limit.
func bounded(found tensor.Tensor, most float64) tensor.Tensor {
	if most == 0 {
		return found
	}
	norm := ops.Sqrt(ops.SumKeep(ops.Square(found), rising(1, found.Shape().Rank())...))
	limit := ops.Cast(most, found.DType())
	return ops.Mul(found, ops.Div(limit, ops.Maximum(norm, limit)))
}

// below appends the inner dimensions of x, with size 1, to a vector.
func below(v, x tensor.Tensor) tensor.Tensor {
	for v.Shape().Rank() < x.Shape().Rank() {
		v = ops.ExpandDims(v, -1)
	}
	return v
}

// over divides the rows of x by a vector, whose zeros count as 1.
func over(x, by tensor.Tensor) tensor.Tensor {
	by = below(by, x)
	return ops.Div(x, ops.Where(ops.Equal(by, 0), ops.OnesLike(by), by))
}

// CrossOptions says how [CrossHashed] numbers crossed strings.
type CrossOptions struct {
	Buckets int             // results are below this number; 0 means all of int64
	Hash    ops.HashOptions // with a key, the numbers cannot be predicted by others
}

// CrossHashed is [Cross] with a number instead of each crossed string: its hash, which is the same
// on every machine and in every version.
//
//	inputs: string or int[n, (m)] each → int64[n, (Π m)]. No gradient.
func CrossHashed(inputs []tensor.Tensor, o CrossOptions) (y *Tensor, err error) {
	defer tenon.Catch(&err)
	const fn = "ragged.CrossHashed"
	if o.Buckets < 0 {
		return nil, invalid(fn, "Buckets", "is %d", o.Buckets)
	}
	values, splits := crossInputs(fn, inputs)
	n := o.Buckets
	if n == 0 {
		n = 1<<63 - 1
	}
	h, s := rows.CrossHashed(values, splits, CrossSeparator, n, o.Hash)
	return partitioned(h, newPartition(s, h.Shape().Dim(0))), nil
}
