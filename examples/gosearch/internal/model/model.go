package model

import (
	"math"
	"math/rand/v2"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/examples/gosearch/internal/token"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// Width is the number of dimensions of the vectors.
const Width = 512

// Params are the parameters.
type Params struct {
	Tokens nn.Embedding  // float32[tokens, Width]
	Weight tensor.Tensor // float32[fields, tokens]
	Gain   tensor.Tensor // float32[fields]
}

// New returns the initial parameters: embeddings of unit length on average, and weights that
// depend on how rare a token is.
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
	g[token.Name], g[token.Body], g[token.TypeDoc], g[token.PackageDoc] = 2, 0.5, 0.3, 0.3
	return Params{nn.Embedding{Table: tensor.Of(e, n, Width)}, tensor.Of(w, int(token.NumFields), n), tensor.Of(g)}
}

// Like returns empty parameters for a vocabulary of the given size, as a template for reading.
func Like(tokens int) Params {
	zero := func(dims ...int) tensor.Tensor { return ops.Zeros(dtype.Float32, dims) }
	return Params{nn.Embedding{Table: zero(tokens, Width)}, zero(int(token.NumFields), tokens), zero(int(token.NumFields))}
}

// Row is a text as the vocabulary encodes it.
type Row struct {
	Tokens []int32
	Fields []token.Field
}

// Texts is the tokens of some texts and the fields in which they occur, as rows of the same
// partition.
type Texts struct {
	Tokens *ragged.Tensor // int64[texts, (tokens)]
	Fields tensor.Tensor  // int64[tokens of all texts]
}

// textsOf makes Texts of consecutive rows.
func textsOf(ids, fields, splits []int64) Texts {
	return Texts{tenon.Must(ragged.FromRowSplits(ids, splits)), tensor.Of(fields)}
}

// Encode returns the vectors of texts: float32[texts, Width].
func (p Params) Encode(x Texts) tensor.Tensor {
	ids := x.Tokens.FlatValues()
	n := int64(p.Tokens.Table.Shape().Dim(0))
	weight := ops.Gather(ops.Reshape(p.Weight, []int{-1}), ops.Add(ops.Mul(x.Fields, n), ids), 0)
	weight = ops.Mul(weight, ops.Gather(p.Gain, x.Fields, 0))
	return nn.Normalize(p.Tokens.Bag(x.Tokens, weight, nn.BagSum))
}

// Names of dimensions: the two towers share the features, and nothing else.
type (
	question    struct{ named.Dim[question] }
	declaration struct{ named.Dim[declaration] }
	feature     struct{ named.Dim[feature] }
)

// temperature divides cosines before the softmax.
const temperature = 0.05

// Loss is the mean cross entropy of finding each question's own declaration among those of the
// batch. Texts has as many questions as declarations, with the questions first: both are
// encoded together, so that the table has one gradient.
func Loss(p Params, x Texts, _ tensor.Tensor) tensor.Tensor {
	v := p.Encode(x)
	n := ops.FloorDiv(ops.Index(ops.Shape(v), 0), 2)
	questions := named.Of(ops.Index(v, key.To(n)), question{}, feature{})
	declarations := named.Of(ops.Index(v, key.From(n)), declaration{}, feature{})
	cosines := named.Dot[feature](questions, declarations) // {question, declaration}
	own := named.Of(ops.Range(int64(0), ops.Cast(n, dtype.Int64), int64(1)), question{})
	return named.Unnamed(named.Mean[question](named.CrossEntropy[declaration](named.Mul(cosines, 1/temperature), own)))
}

// An Encoder turns rows into vectors.
type Encoder struct {
	params Params
	encode *function.Function[func(Params, Texts) tensor.Tensor]
}

// NewEncoder returns the encoder of a model.
func NewEncoder(p Params) *Encoder {
	return &Encoder{p, function.New(Params.Encode, function.Options{Name: "encode", RelaxAfter: 1})}
}

// With returns an encoder with other parameters, which shares the traced functions.
func (e *Encoder) With(p Params) *Encoder { return &Encoder{p, e.encode} }

// Vectors returns the vectors of rows, concatenated: [len(rows)*Width]. A row without tokens has the
// vector 0. It throws errors.
func (e *Encoder) Vectors(rows []Row) []float32 {
	out := make([]float32, 0, len(rows)*Width)
	const block = 2048
	for lo := 0; lo < len(rows); lo += block {
		splits := []int64{0}
		var ids, fields []int64
		for _, r := range rows[lo:min(lo+block, len(rows))] {
			ids, fields, splits = appendRow(ids, fields, splits, r, nil)
		}
		out = append(out, tensor.Data[float32](e.encode.Call(e.params, textsOf(ids, fields, splits)))...)
	}
	return out
}

// Graph returns the model's graph, traced for a few rows.
func (e *Encoder) Graph(rows []Row) (*graph.Graph, error) {
	splits := []int64{0}
	var ids, fields []int64
	for _, r := range rows {
		ids, fields, splits = appendRow(ids, fields, splits, r, nil)
	}
	c, err := e.encode.Concrete(e.params, textsOf(ids, fields, splits))
	if err != nil {
		return nil, err
	}
	return c.Graph(), nil
}

// appendRow appends a row without the tokens for which drop is true.
func appendRow(ids, fields, splits []int64, r Row, drop func(i int) bool) (_, _, _ []int64) {
	for i, t := range r.Tokens {
		if drop != nil && drop(i) {
			continue
		}
		ids, fields = append(ids, int64(t)), append(fields, int64(r.Fields[i]))
	}
	return ids, fields, append(splits, int64(len(ids)))
}

// Once returns the vector of one row without tracing, which is faster if nothing has been
// traced yet. It throws errors.
func (e *Encoder) Once(r Row) []float32 {
	ids, fields, splits := appendRow(nil, nil, []int64{0}, r, nil)
	return tensor.Data[float32](e.params.Encode(textsOf(ids, fields, splits)))
}
