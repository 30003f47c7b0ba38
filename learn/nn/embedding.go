package nn

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// Embedding holds a vector for each id, counting from 0.
type Embedding struct {
	Table   tensor.Tensor // [size, features]
	Padding []int64       `tenon:"static"` // ids whose vectors are not trained
	Names   Names         `tenon:"static"` // Out: the features
}

// EmbeddingOptions are the options of [NewEmbedding]. The zero value is the default.
type EmbeddingOptions struct {
	Init    Init // "" stands for Uniform
	Padding []int64
	DType   dtype.DType
	Names   Names
}

// NewEmbedding returns vectors for the ids below size.
func NewEmbedding(key tensor.Tensor, size, features int, options ...EmbeddingOptions) Embedding {
	o := option(options)
	return Embedding{Initialize(orInit(o.Init, Uniform), key, floatType(o.DType), size, features), o.Padding, o.Names}
}

// Apply returns the vector of each id. An id outside the table is an error.
//
//	ids: [...] int32 or int64, dense, ragged or named → [..., features]
func (l Embedding) Apply(ids tensor.Tensor) tensor.Tensor {
	return withFeatures("nn.Embedding", ids, l.Names, func(ids tensor.Tensor) tensor.Tensor {
		vectors := ops.Gather(l.Table, ids, 0)
		for _, id := range l.Padding {
			vectors = ops.Where(ops.ExpandDims(ops.Equal(ids, id), -1), ops.StopGradient(vectors), vectors)
		}
		return vectors
	})
}

// A Combiner says how [Embedding.Bag] combines the vectors of a row.
type Combiner string

// With weights wᵢ: the sum Σwᵢvᵢ, that sum divided by Σwᵢ, and divided by √Σwᵢ²; and, without
// weights, the maximum of each feature.
const (
	BagSum   Combiner = ""
	BagMean  Combiner = "mean"
	BagSqrtN Combiner = "sqrtn"
	BagMax   Combiner = "max"
)

// Bag returns one vector for each row of ids: their sum, mean or scaled sum, weighted. An empty
// row has the vector 0. Only BagMax gathers the vectors of single ids.
//
//	ids: [rows, (ids)] int32 or int64; weights: the same rows, or their flat values, or nil for 1
//	→ [rows, features]
func (l Embedding) Bag(ids *ragged.Tensor, weights tensor.Tensor, c Combiner) tensor.Tensor {
	const fn = "nn.Embedding.Bag"
	if ids.RaggedRank() != 1 || ids.FlatValues().Shape().Rank() != 1 {
		tenon.Throw(tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("want rows of ids, got %s", tenon.String(ids.Spec()))))
	}
	d := l.Table.DType()
	flat := ids.FlatValues()
	splits := ids.RowSplits()
	if c == BagMax {
		if weights != nil {
			tenon.Throw(tenon.NewError(tenon.ErrInvalid, fn, "the combiner max does not use weights"))
		}
		some := ops.ExpandDims(ops.Greater(rows.Lengths(splits), 0), -1)
		return ops.Where(some, rows.Max(ops.Gather(l.Table, flat, 0), splits), 0.0)
	}
	w := ops.Cast(ops.OnesLike(flat), d)
	switch t := weights.(type) {
	case nil:
	case rowed:
		rows.AssertSame(splits, t.RowSplits())
		w, _ = t.Carried()
	default:
		w = weights
	}
	sum := rows.EmbeddingBag(l.Table, flat, w, splits)
	var by tensor.Tensor
	switch c {
	case BagSum:
		return sum
	case BagMean:
		by = rows.Sum(w, splits)
	case BagSqrtN:
		by = ops.Sqrt(rows.Sum(ops.Square(w), splits))
	default:
		tenon.Throw(tenon.NewError(tenon.ErrNotFound, fn, fmt.Sprintf("there is no combiner %q", string(c))))
	}
	empty := ops.Equal(by, 0.0)
	return ops.Div(sum, ops.ExpandDims(ops.Where(empty, ops.OnesLike(by), by), -1))
}

// Attend returns the score of each id for each item, x·Tableᵀ, for a model whose last layer
// shares the table of its first.
//
//	x: [..., features] → [..., size]
func (l Embedding) Attend(x tensor.Tensor) tensor.Tensor {
	return onFeatures("nn.Embedding.Attend", x, Names{}, func(x tensor.Tensor) tensor.Tensor {
		return multiply(x, ops.Transpose(l.Table, 1, 0))
	})
}
