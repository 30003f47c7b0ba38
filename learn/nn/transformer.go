package nn

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// BlockOptions are the options of [NewEncoderBlock] and [NewDecoderBlock]. The zero value is the
// default.
type BlockOptions struct {
	Hidden     int        // features of the hidden layer; 0 means four times those of the block
	Activation Activation // of the hidden layer; "" means Gelu
	NormLast   bool       // normalize after the sums, as in the paper, instead of before the layers
	Dropout    float64    // the share of the layers' output that is dropped in training
	Attention  AttentionOptions
	Norm       NormOptions
}

// block returns the options with their defaults, for all parts.
func (o BlockOptions) block(features int) BlockOptions {
	if o.Hidden == 0 {
		o.Hidden = 4 * features
	}
	if o.Activation == "" {
		o.Activation = Gelu
	}
	if o.Norm.DType == dtype.None {
		o.Norm.DType = o.Attention.DType
	}
	o.Norm.Names.In = o.Attention.Names.In
	return o
}

// FeedForward is two dense layers, the first of which is wider, applied to each position.
type FeedForward struct{ Up, Down Dense }

func newFeedForward(key tensor.Tensor, features int, o BlockOptions) FeedForward {
	k, n := keys(key, 2), o.Attention.Names
	d := DenseOptions{Init: o.Attention.Init, DType: o.Attention.DType, Names: Names{In: n.In}}
	up := d
	up.Activation = o.Activation
	return FeedForward{NewDense(k[0], features, o.Hidden, up), NewDense(k[1], o.Hidden, features, d)}
}

// Apply returns the layers' output, which has the shape of x.
func (f FeedForward) Apply(x tensor.Tensor) tensor.Tensor { return f.Down.Apply(f.Up.Apply(x)) }

// EncoderBlock is attention among the positions of each row and a [FeedForward], each with a
// residual connection and a normalization (A. Vaswani et al., arXiv:1706.03762; with
// normalization first: R. Xiong et al., ICML 2020).
type EncoderBlock struct {
	Attention    MultiHeadAttention
	Forward      FeedForward
	Norm1, Norm2 LayerNorm
	NormLast     bool    `tenon:"static"`
	Dropout      Dropout `tenon:"static"`
}

// NewEncoderBlock returns a block whose output has as many features as its input.
func NewEncoderBlock(key tensor.Tensor, features, heads int, options ...BlockOptions) EncoderBlock {
	o := option(options).block(features)
	k := keys(key, 2)
	return EncoderBlock{
		Attention: NewMultiHeadAttention(k[0], features, heads, o.Attention), Forward: newFeedForward(k[1], features, o),
		Norm1: NewLayerNorm(features, o.Norm), Norm2: NewLayerNorm(features, o.Norm),
		NormLast: o.NormLast, Dropout: Dropout{Rate: o.Dropout},
	}
}

// Apply returns the block's value.
//
//	x: [..., positions, features] dense, [rows, (positions), features] ragged, or {..., Along, In} → the same
func (b EncoderBlock) Apply(x tensor.Tensor) tensor.Tensor { return b.Train(nil, x) }

// Train is Apply with dropout, which key determines.
func (b EncoderBlock) Train(key, x tensor.Tensor) tensor.Tensor {
	s := newResidual(key, b.Dropout, b.NormLast, 2)
	x = s.add(x, b.Norm1, b.Attention.Apply)
	return s.add(x, b.Norm2, b.Forward.Apply)
}

// Extend is Apply to positions that follow those of a cache; see [MultiHeadAttention.Extend].
func (b EncoderBlock) Extend(x tensor.Tensor, c Cache) (tensor.Tensor, Cache) {
	s := newResidual(nil, b.Dropout, b.NormLast, 2)
	x = s.add(x, b.Norm1, func(x tensor.Tensor) (y tensor.Tensor) {
		y, c = b.Attention.Extend(x, c)
		return y
	})
	return s.add(x, b.Norm2, b.Forward.Apply), c
}

// DecoderBlock is an [EncoderBlock] that also attends, between its two layers, to the positions
// of other rows.
type DecoderBlock struct {
	Self, Cross         MultiHeadAttention
	Forward             FeedForward
	Norm1, Norm2, Norm3 LayerNorm
	NormLast            bool    `tenon:"static"`
	Dropout             Dropout `tenon:"static"`
}

// NewDecoderBlock returns a block whose output has as many features as its input. Its positions
// attend to those before them, and to all of the other rows.
func NewDecoderBlock(key tensor.Tensor, features, heads int, options ...BlockOptions) DecoderBlock {
	o := option(options).block(features)
	k, self := keys(key, 3), o.Attention
	self.Sight.Causal = true
	return DecoderBlock{
		Self: NewMultiHeadAttention(k[0], features, heads, self), Cross: NewMultiHeadAttention(k[1], features, heads, o.Attention),
		Forward: newFeedForward(k[2], features, o),
		Norm1:   NewLayerNorm(features, o.Norm), Norm2: NewLayerNorm(features, o.Norm), Norm3: NewLayerNorm(features, o.Norm),
		NormLast: o.NormLast, Dropout: Dropout{Rate: o.Dropout},
	}
}

// Apply returns the block's output for x, which attends to z; see [MultiHeadAttention.ApplyTo]
// for the arguments.
func (b DecoderBlock) Apply(x, z, mask tensor.Tensor) tensor.Tensor { return b.Train(nil, x, z, mask) }

// Train is Apply with dropout, which key determines.
func (b DecoderBlock) Train(key, x, z, mask tensor.Tensor) tensor.Tensor {
	s := newResidual(key, b.Dropout, b.NormLast, 3)
	x = s.add(x, b.Norm1, b.Self.Apply)
	x = s.add(x, b.Norm2, func(x tensor.Tensor) tensor.Tensor { return b.Cross.ApplyTo(x, z, mask) })
	return s.add(x, b.Norm3, b.Forward.Apply)
}

// Extend is Apply to positions of x that follow those of a cache; see [MultiHeadAttention.Extend].
func (b DecoderBlock) Extend(x, z, mask tensor.Tensor, c Cache) (tensor.Tensor, Cache) {
	s := newResidual(nil, b.Dropout, b.NormLast, 3)
	x = s.add(x, b.Norm1, func(x tensor.Tensor) (y tensor.Tensor) {
		y, c = b.Self.Extend(x, c)
		return y
	})
	x = s.add(x, b.Norm2, func(x tensor.Tensor) tensor.Tensor { return b.Cross.ApplyTo(x, z, mask) })
	return s.add(x, b.Norm3, b.Forward.Apply), c
}

// residual adds a layer's input to its output.
type residual struct {
	keys    []tensor.Tensor
	dropout Dropout
	last    bool
}

func newResidual(key tensor.Tensor, d Dropout, last bool, n int) *residual {
	r := &residual{dropout: d, last: last}
	if key != nil && d.Rate != 0 {
		r.keys = keys(key, n)
	}
	return r
}

func (r *residual) add(x tensor.Tensor, norm LayerNorm, layer func(tensor.Tensor) tensor.Tensor) tensor.Tensor {
	in := x
	if !r.last {
		in = norm.Apply(x)
	}
	y := layer(in)
	if len(r.keys) > 0 {
		y = r.dropout.Apply(r.keys[0], y)
		r.keys = r.keys[1:]
	}
	if y = ops.Add(x, y); r.last {
		y = norm.Apply(y)
	}
	return y
}
