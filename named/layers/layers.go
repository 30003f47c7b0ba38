package layers

import (
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Linear is x·Weight + Bias between the dimensions In and Out.
type Linear[In named.Is[In], Out named.Is[Out]] struct {
	Weight *named.Tensor `dims:"In,Out"`
	Bias   *named.Tensor `dims:"Out"` // nil if there is none
}

// LinearOptions are the options of [NewLinear]. The zero value is the default.
type LinearOptions struct {
	DType  dtype.DType // of the weights; float32 if it is omitted
	NoBias bool
	Scale  float64 // standard deviation of the weights; 0 means 1/√(size of In)
}

func floatType(d dtype.DType) dtype.DType {
	if d == dtype.None {
		return dtype.Float32
	}
	return d
}

// NewLinear returns a layer with random weights and a bias of zeros. In and Out must not share a
// dimension.
func NewLinear[In named.Is[In], Out named.Is[Out]](key tensor.Tensor, sizes Sizes, o LinearOptions) Linear[In, Out] {
	in, out := sizes.Of(by[In]()), sizes.Of(by[Out]())
	scale := o.Scale
	if scale == 0 {
		scale = 1 / math.Sqrt(float64(max(count(in), 1)))
	}
	d := floatType(o.DType)
	l := Linear[In, Out]{Weight: named.Normal(key, d, 0, scale, append(append([]named.Sized{}, in...), out...)...)}
	if !o.NoBias {
		l.Bias = named.Zeros(d, out...)
	}
	return l
}

// Apply returns x·Weight + Bias. x must have In, which the result replaces by
// Out.
func (l Linear[In, Out]) Apply(x tenon.Value) *named.Tensor {
	y := named.Contract[In](x, l.Weight)
	if l.Bias == nil {
		return y
	}
	return named.Add(y, l.Bias)
}

// LayerNorm normalizes along N, and scales and shifts the result.
type LayerNorm[N named.Is[N]] struct {
	Scale   *named.Tensor `dims:"N"`
	Offset  *named.Tensor `dims:"N"`
	Epsilon float64       `tenon:"static"`
}

// NewLayerNorm returns a norm with scale 1 and offset 0.
func NewLayerNorm[N named.Is[N]](sizes Sizes, d dtype.DType) LayerNorm[N] {
	dims := sizes.Of(by[N]())
	return LayerNorm[N]{named.Ones(floatType(d), dims...), named.Zeros(floatType(d), dims...), 1e-5}
}

// Apply returns x normalized along N.
func (l LayerNorm[N]) Apply(x tenon.Value) *named.Tensor {
	return named.LayerNorm[N](x, l.Scale, l.Offset, l.Epsilon)
}

// RMSNorm divides by the root mean square along N, and scales the result.
type RMSNorm[N named.Is[N]] struct {
	Scale   *named.Tensor `dims:"N"`
	Epsilon float64       `tenon:"static"`
}

// NewRMSNorm returns a norm with scale 1.
func NewRMSNorm[N named.Is[N]](sizes Sizes, d dtype.DType) RMSNorm[N] {
	return RMSNorm[N]{named.Ones(floatType(d), sizes.Of(by[N]())...), 1e-6}
}

// Apply returns x normalized along N.
func (l RMSNorm[N]) Apply(x tenon.Value) *named.Tensor {
	return named.RMSNorm[N](x, l.Scale, l.Epsilon)
}

// Embedding has a vector along Out for each number of a vocabulary.
type Embedding[Vocab named.Is[Vocab], Out named.Is[Out]] struct {
	Table *named.Tensor `dims:"Vocab,Out"`
}

// NewEmbedding returns a table of random vectors with the given standard deviation; 0 means 0.02.
func NewEmbedding[Vocab named.Is[Vocab], Out named.Is[Out]](key tensor.Tensor, sizes Sizes, d dtype.DType, scale float64) Embedding[Vocab, Out] {
	if scale == 0 {
		scale = 0.02
	}
	return Embedding[Vocab, Out]{named.Normal(key, floatType(d), 0, scale, sizes.Of(by[Vocab](), by[Out]())...)}
}

// Apply returns the vector of each number: {Seq} → {Seq, Out}.
func (l Embedding[Vocab, Out]) Apply(ids tenon.Value) *named.Tensor {
	return named.Take[Vocab](l.Table, ids)
}

// Attend returns the score of each number of the vocabulary: {Seq, Out} → {Seq,
// Vocab}.
func (l Embedding[Vocab, Out]) Attend(x tenon.Value) *named.Tensor {
	return named.Contract[Out](x, l.Table)
}

// Attention is multi-head attention of the positions along Seq to each other: a linear layer each
// computes queries, keys and values from Model, and another one maps the result back to Model.
// KeySeq is the name of Seq for the keys.
type Attention[Seq named.Is[Seq], KeySeq named.Is[KeySeq], Model named.Is[Model], Head named.Is[Head], Rep named.Is[Rep]] struct {
	Query, Key, Value [2]*named.Tensor // weight {Model, Head, Rep} and bias {Head, Rep}
	Out               [2]*named.Tensor // weight {Head, Rep, Model} and bias {Model}
	Causal            bool             `tenon:"static"`
}

// NewAttention returns a layer with random weights.
func NewAttention[Seq named.Is[Seq], KeySeq named.Is[KeySeq], Model named.Is[Model], Head named.Is[Head], Rep named.Is[Rep]](
	key tensor.Tensor, sizes Sizes, causal bool, d dtype.DType) Attention[Seq, KeySeq, Model, Head, Rep] {
	model, heads := sizes.Of(by[Model]()), sizes.Of(by[Head](), by[Rep]())
	pair := func(n int, in, out []named.Sized) [2]*named.Tensor {
		scale := 1 / math.Sqrt(float64(max(count(in), 1)))
		return [2]*named.Tensor{
			named.Normal(ops.RandomFoldIn(key, n), floatType(d), 0, scale, append(append([]named.Sized{}, in...), out...)...),
			named.Zeros(floatType(d), out...),
		}
	}
	return Attention[Seq, KeySeq, Model, Head, Rep]{pair(0, model, heads), pair(1, model, heads), pair(2, model, heads), pair(3, heads, model), causal}
}

// Apply returns the result of attention between the positions of x: {Seq, Model} → {Seq, Model}.
// The mask, over Seq and KeySeq, is true where a position attends to another one; it may be nil.
func (l Attention[Seq, KeySeq, Model, Head, Rep]) Apply(x tenon.Value, mask *named.Tensor) *named.Tensor {
	project := func(p [2]*named.Tensor) *named.Tensor { return named.Add(named.Contract[Model](x, p[0]), p[1]) }
	k, v := named.Rename[Seq, KeySeq](project(l.Key)), named.Rename[Seq, KeySeq](project(l.Value))
	seen := named.Attention[KeySeq, Rep](project(l.Query), k, v, named.AttentionOptions{Causal: l.Causal, Mask: mask})
	return named.Add(named.By(by[Head](), by[Rep]()).Contract(seen, l.Out[0]), l.Out[1])
}

// Dropout randomly sets elements to 0 during training; see [named.Dropout].
type Dropout struct {
	Rate float64 `tenon:"static"`
}

// Apply returns x with some elements dropped, or x itself if key is nil.
func (l Dropout) Apply(key tensor.Tensor, x tenon.Value, shared ...named.Name) *named.Tensor {
	if key == nil || l.Rate == 0 {
		return named.From(x)
	}
	return named.Dropout(key, x, l.Rate, shared...)
}
