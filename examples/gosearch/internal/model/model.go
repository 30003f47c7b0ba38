package model

import (
	"math"
	"math/rand/v2"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/examples/gosearch/internal/token"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// Width is the number of dimensions of the vectors.
const Width = 512

// temperature divides cosines to make logits.
const temperature = 0.05

// Params is what is learned.
type Params struct {
	Embedding tensor.Tensor // float32[tokens, Width]
	Weight    tensor.Tensor // float32[fields, tokens]
	Gain      tensor.Tensor // float32[fields]
}

// New returns the parameters that training starts from: embeddings of unit length
// on average, and weights by how rare a token is.
func New(v *token.Vocabulary, seed uint64) Params {
	n := v.Size()
	r := rand.New(rand.NewPCG(seed, 0x67e6a9))
	e := make([]float32, n*Width)
	for i := range e {
		e[i] = float32(r.NormFloat64() / math.Sqrt(Width))
	}
	w := make([]float32, int(token.NumFields)*n)
	for f := range token.NumFields {
		for t := range n {
			w[int(f)*n+t] = v.Weight(int32(t))
			if f.IsPlace() {
				w[int(f)*n+t] = 1
			}
		}
	}
	g := make([]float32, token.NumFields)
	for f := range g {
		g[f] = 1
	}
	g[token.Name], g[token.Body] = 2, 0.5
	return Params{tensor.Of(e, n, Width), tensor.Of(w, int(token.NumFields), n), tensor.Of(g)}
}

// Texts is the tokens of some texts and the fields they stand in: rows of one
// partition.
type Texts struct {
	Tokens *ragged.Tensor // int64[texts, (tokens)]
	Fields tensor.Tensor  // int64[tokens of all texts]
}

// Encode returns the vectors of texts: float32[texts, Width].
func (p Params) Encode(x Texts) tensor.Tensor {
	ids := x.Tokens.FlatValues()
	n := int64(p.Embedding.Shape().Dim(0))
	weight := ops.Gather(ops.Reshape(p.Weight, []int{-1}), ops.Add(ops.Mul(x.Fields, n), ids), 0)
	weight = ops.Mul(weight, ops.Gather(p.Gain, x.Fields, 0))
	e := rows.EmbeddingBag(p.Embedding, ids, weight, x.Tokens.RowSplits())
	return ops.Mul(e, ops.Rsqrt(ops.Add(ops.SumKeep(ops.Square(e), -1), 1e-12)))
}

// Batch is questions and the declarations they belong to, in the same order.
type Batch struct {
	Questions, Declarations Texts
}

// Loss is the mean cross entropy of each question's own declaration among those of
// the batch.
func Loss(p Params, b Batch) tensor.Tensor {
	q, d := p.Encode(b.Questions), p.Encode(b.Declarations)
	logits := ops.Div(ops.MatMulT(q, d, false, true), temperature)
	n := ops.Index(ops.Shape(logits), 0)
	return ops.Mean(ops.SoftmaxCrossEntropy(logits, ops.Range(int64(0), ops.Cast(n, dtype.Int64), int64(1))))
}
