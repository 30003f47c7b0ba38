// Package main is a language model of characters, as one writes it: what is wrong with its
// dimensions is found before it runs.
package main

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/tensor"
)

// Names of dimensions.
type (
	Batch   struct{ named.Dim[Batch] }
	Seq     struct{ named.Dim[Seq] }    // positions that look
	KeySeq  struct{ named.Dim[KeySeq] } // positions that are looked at
	Pos     struct{ named.Dim[Pos] }
	Vocab   struct{ named.Dim[Vocab] }
	Model   struct{ named.Dim[Model] }
	Head    struct{ named.Dim[Head] }
	HeadRep struct{ named.Dim[HeadRep] }
	ValRep  struct{ named.Dim[ValRep] }
	Hidden  struct{ named.Dim[Hidden] }
)

// Outer layers of attention go over both at once.
type Heads struct {
	named.Set[Heads]
	Head
	ValRep
}

// Schemas at the borders.
type (
	Ids struct {
		*named.Tensor
		Seq
	}
	Stream struct {
		*named.Tensor
		Seq
		Model
	}
	Logits struct {
		*named.Tensor
		Seq
		Vocab
	}
)

type Config struct{ Vocab, Context, Model, Heads, Hidden, Blocks int }

type Linear[In named.Is[In]] struct{ Weight, Bias *named.Tensor }

func (l Linear[In]) Apply(x *named.Tensor) *named.Tensor {
	return named.Add(named.Contract[In](x, l.Weight), l.Bias)
}

type Norm struct{ Scale, Offset *named.Tensor }

func (n Norm) Apply(x Stream) *named.Tensor {
	return named.LayerNorm[Model](x, n.Scale, n.Offset, 1e-5)
}

type Block struct {
	Norm1             Norm
	Query, Key, Value Linear[Model]
	Out               Linear[Heads]
	Norm2             Norm
	Up                Linear[Model]
	Down              Linear[Hidden]
}

func (b Block) Apply(x Stream) Stream {
	n := b.Norm1.Apply(x)
	q := b.Query.Apply(n)
	k := named.Rename[Seq, KeySeq](b.Key.Apply(n))
	v := named.Rename[Seq, KeySeq](b.Value.Apply(n))
	seen := named.Attention[KeySeq, HeadRep](q, k, v, named.AttentionOptions{Causal: true})
	x = named.Bind[Stream](named.Add(x, b.Out.Apply(seen)))
	h := named.Map(ops.GeluTanh, b.Up.Apply(b.Norm2.Apply(x)))
	return named.Bind[Stream](named.Add(x, b.Down.Apply(h)))
}

type GPT struct {
	Tokens, Positions *named.Tensor
	Blocks            []Block
	Norm              Norm
}

func (m GPT) Logits(ids Ids) Logits {
	at := named.Rename[Pos, Seq](named.Index[Pos](m.Positions, key.Range(nil, ids.Seq.Size(), nil)))
	x := named.Bind[Stream](named.Add(named.Take[Vocab](m.Tokens, ids), at))
	for _, b := range m.Blocks {
		x = b.Apply(x)
	}
	return named.Bind[Logits](named.Dot[Model](m.Norm.Apply(x), m.Tokens))
}

func NewGPT(seed uint64, c Config) GPT {
	k, n := ops.RandomKey(seed), 0
	normal := func(std float64, dims ...named.Sized) *named.Tensor {
		n++
		return named.Normal(ops.RandomFoldIn(k, n), dtype.Float32, 0, std, dims...)
	}
	zeros := func(dims ...named.Sized) *named.Tensor { return named.Zeros(dtype.Float32, dims...) }
	model, head, hidden := Model{}.Of(c.Model), Head{}.Of(c.Heads), Hidden{}.Of(c.Hidden)
	rep, val := HeadRep{}.Of(c.Model/c.Heads), ValRep{}.Of(c.Model/c.Heads)
	norm := func() Norm { return Norm{named.Ones(dtype.Float32, model), zeros(model)} }
	m := GPT{normal(0.02, Vocab{}.Of(c.Vocab), model), normal(0.02, Pos{}.Of(c.Context), model), nil, norm()}
	for range c.Blocks {
		m.Blocks = append(m.Blocks, Block{
			Norm1: norm(),
			Query: Linear[Model]{normal(0.02, model, head, rep), zeros(head, rep)},
			Key:   Linear[Model]{normal(0.02, model, head, rep), zeros(head, rep)},
			Value: Linear[Model]{normal(0.02, model, head, val), zeros(head, val)},
			Out:   Linear[Heads]{normal(0.02, head, val, model), zeros(model)},
			Norm2: norm(),
			Up:    Linear[Model]{normal(0.02, model, hidden), zeros(hidden)},
			Down:  Linear[Hidden]{normal(0.02, hidden, model), zeros(model)},
		})
	}
	return m
}

// Loss is the mean cross entropy of what comes next, for characters {Batch, Seq}.
func Loss(m GPT, text *named.Tensor, _ tensor.Tensor) tensor.Tensor {
	in, next := named.Index[Seq](text, key.Range(nil, -1, nil)), named.Index[Seq](text, key.Range(1, nil, nil))
	logits := named.LiftOver(Batch{}, m.Logits)(named.Bind[Batched](in).Ids)
	return ops.Mean(named.CrossEntropy[Vocab](logits, next))
}

type Batched struct {
	Batch
	Ids
}
