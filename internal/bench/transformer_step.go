package main

import (
	"github.com/tenonml/tenon/internal/bench/inputs"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

func init() { register("transformer_step", transformerStep) }

// languageModel tells the next token of each row.
type languageModel struct {
	Tokens nn.Embedding
	Blocks []nn.EncoderBlock
	Norm   nn.LayerNorm
	Out    nn.Dense
}

type languageBatch struct{ Tokens, Next *ragged.Tensor }

func (m languageModel) loss(b languageBatch) tensor.Tensor {
	x := m.Tokens.Apply(b.Tokens)
	for _, block := range m.Blocks {
		x = block.Apply(x)
	}
	return ops.Mean(nn.SoftmaxCrossEntropy(m.Out.Apply(m.Norm.Apply(x)), b.Next))
}

// transformerStep times a step of training on rows as long as they are.
func transformerStep(r *runner) {
	layers, width, heads := r.pick(6, 2, 2), r.pick(256, 32, 32), r.pick(8, 4, 4)
	vocabulary, rows := r.pick(1024, 64, 64), r.pick(32, 4, 4)
	stream := 0
	dense := func(in, out int) nn.Dense {
		stream++
		return nn.Dense{Kernel: sym(33, stream, 1.0/16, in, out)}
	}
	norm := nn.NewLayerNorm(width)
	m := languageModel{Tokens: nn.Embedding{Table: sym(33, 0, 1.0/8, vocabulary, width)}, Norm: norm}
	for range layers {
		a := nn.MultiHeadAttention{Heads: heads, Sight: nn.Sight{Causal: true}}
		for _, d := range []*nn.Dense{&a.Query, &a.Key, &a.Value, &a.Out} {
			*d = dense(width, width)
		}
		f := nn.FeedForward{Up: dense(width, 4*width), Down: dense(4*width, width)}
		f.Up.Activation = nn.Relu
		m.Blocks = append(m.Blocks, nn.EncoderBlock{Attention: a, Forward: f, Norm1: norm, Norm2: norm})
	}
	m.Out = dense(width, vocabulary)

	batches, tokens := make([]languageBatch, 4), 0
	for i := range batches {
		lengths := logNormal(33, 1000+2*i, rows, 4.6, 16, 512)
		if r.size != "full" {
			lengths = logNormal(33, 1000+2*i, rows, 2.2, 4, 24)
		}
		own := inputs.Belows(33, 1001+2*i, totalOf(lengths), vocabulary)
		next, at := make([]int64, len(own)), 0
		for _, n := range lengths {
			copy(next[at:], own[at+1:at+int(n)])
			at += int(n)
		}
		batches[i] = languageBatch{rowsOf(tensor.Of(own), lengths), rowsOf(tensor.Of(next), lengths)}
		tokens += len(own)
	}
	loss := func(m languageModel, b languageBatch, _ tensor.Tensor) tensor.Tensor { return m.loss(b) }
	c := benchCase{name: "step", items: float64(tokens) / float64(len(batches)), unit: "tokens"}
	steps(r, c, m, loss, batches, 5, 1, 3, 5)
}
