package main

import (
	"context"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/internal/bench/inputs"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

func init() { register("train_step", trainStep) }

// The sizes of train_step.
const (
	trainVocabulary, trainWidth, trainHeads = 20000, 128, 4
	trainPairs, trainBatches                = 64, 8
)

// textTower is one of the two encoders of train_step; they share the table of tokens.
type textTower struct {
	Before nn.LayerNorm
	Mix    nn.MultiHeadAttention
	After  nn.LayerNorm
}

type textModel struct {
	Tokens      nn.Embedding
	Query, Text textTower
}

type textPairs struct{ Queries, Texts *ragged.Tensor }

// encode returns the vectors of rows of embedded tokens, of length 1.
func (t textTower) encode(x tensor.Tensor) tensor.Tensor {
	x = t.After.Apply(ops.Add(x, t.Mix.Apply(t.Before.Apply(x))))
	return nn.Normalize(ops.Mean(x, 1))
}

// textLoss looks the tokens of both towers up together, so that the table has one gradient.
func textLoss(m textModel, b textPairs) tensor.Tensor {
	x := m.Tokens.Apply(ops.Concat([]any{b.Queries, b.Texts}, 0))
	queries := m.Query.encode(ops.Index(x, key.To(trainPairs)))
	texts := m.Text.encode(ops.Index(x, key.From(trainPairs)))
	return ops.Mean(nn.Contrastive(queries, texts, nn.ContrastiveOptions{}))
}

// textParameters are those that training starts from.
func textParameters() textModel {
	matrix := func(k, rows, columns int) tensor.Tensor {
		return tensor.Of(inputs.Syms(17, k, rows*columns, 1.0/8), rows, columns)
	}
	tower := func(k int) textTower {
		norm := nn.NewLayerNorm(trainWidth, nn.NormOptions{})
		dense := func(i int) nn.Dense { return nn.Dense{Kernel: matrix(k+i, trainWidth, trainWidth)} }
		return textTower{norm, nn.MultiHeadAttention{Query: dense(0), Key: dense(1), Value: dense(2), Out: dense(3), Heads: trainHeads}, norm}
	}
	return textModel{nn.Embedding{Table: matrix(0, trainVocabulary, trainWidth)}, tower(1), tower(5)}
}

// textBatch makes batch i: rows of random lengths, of random tokens.
func textBatch(i int) textPairs {
	rows := func(tower int) *ragged.Tensor {
		s := inputs.NewStream(17, 100+2*i+tower)
		splits, tokens := []int64{0}, []int64{}
		for range trainPairs {
			n := 1
			if s.Below(8) == 0 {
				n += s.Below(64)
			} else {
				n += s.Below(45)
			}
			for range n {
				tokens = append(tokens, int64(s.Below(trainVocabulary)))
			}
			splits = append(splits, int64(len(tokens)))
		}
		return tenon.Must(ragged.FromRowSplits(tokens, splits))
	}
	return textPairs{rows(0), rows(1)}
}

// trainStep times a step of training on rows as long as they are, its gradient and its
// loss alone.
func trainStep(r *runner) {
	if !r.want("step") && !r.want("forward") && !r.want("fwdbwd") {
		return
	}
	batches := make([]textPairs, trainBatches)
	for i := range batches {
		batches[i] = textBatch(i)
	}
	trainer, err := train.NewTrainer(textParameters(), func(m textModel, b textPairs, _ tensor.Tensor) tensor.Tensor {
		return textLoss(m, b)
	}, train.Options{Optimizer: train.Adam(1e-3)})
	if r.err = err; err != nil {
		return
	}
	next := func() float64 {
		loss, err := trainer.Step(context.Background(), batches[trainer.Steps()%trainBatches])
		if err != nil {
			r.err = err
		}
		return loss
	}
	var losses []float64
	for range 10 {
		losses = append(losses, next())
	}
	answer := func(any) []float64 { return []float64{10, losses[0], losses[4], losses[9]} }
	r.run(benchCase{name: "step", items: trainPairs, unit: "examples", check: answer}, func() any { return next() })

	m := textParameters()
	forward := function.New(textLoss, function.Options{Name: "forward", RelaxAfter: 1})
	r.run(benchCase{name: "forward", items: trainPairs, unit: "examples"}, func() any { return forward.Call(m, batches[0]) })
	gradient := function.New(grad.ValueAndGrad(textLoss), function.Options{Name: "fwdbwd", RelaxAfter: 1})
	r.run(benchCase{name: "fwdbwd", items: trainPairs, unit: "examples"}, func() any {
		_, g := gradient.Call(m, batches[0])
		return g
	})
}
