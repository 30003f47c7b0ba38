package main

import (
	"context"
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/bench/inputs"
	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// lengthsDrawn is the number of draws whose sum, about normal, makes a length.
const lengthsDrawn = 12

// sym returns a tensor of numbers of stream k of workload w.
func sym(w, k int, scale float32, dims ...int) tensor.Tensor {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return tensor.Of(inputs.Syms(w, k, n, scale), dims...)
}

// flatSum is the checksum of tensors one after the other.
func flatSum(xs ...tensor.Tensor) []float64 {
	var c inputs.Sum
	for _, x := range xs {
		inputs.Add(&c, tensor.Data[float32](x))
	}
	return c.Checksum()
}

// gradientOf is what grad differentiates: the sum of y times its cotangent.
func gradientOf(y, g tensor.Tensor) tensor.Tensor { return ops.Sum(ops.Mul(y, g)) }

// rowsOf returns values in rows of given lengths.
func rowsOf(values tensor.Tensor, lengths []int64) *ragged.Tensor {
	splits := []int64{0}
	for i, n := range lengths {
		splits = append(splits, splits[i]+n)
	}
	return tenon.Must(ragged.FromRowSplits(values, splits))
}

// logNormal returns lengths of exp(mean + 0.7·about normal), between two ends.
func logNormal(w, k, rows int, mean float64, least, most int64) []int64 {
	s := inputs.NewStream(w, k)
	lengths := make([]int64, rows)
	for i := range lengths {
		var sum float64
		for range lengthsDrawn {
			sum += float64(s.Unit())
		}
		lengths[i] = min(most, max(least, int64(math.Exp(mean+0.7*(sum-6)))))
	}
	return lengths
}

func totalOf(lengths []int64) (n int) {
	for _, l := range lengths {
		n += int(l)
	}
	return n
}

// steps times passes over batches in turn. The losses of steps by number, from 1, are the
// answer: n steps from the start.
func steps[M, B any](r *runner, c benchCase, model M, loss func(M, B, tensor.Tensor) tensor.Tensor, batches []B, n int, at ...int) {
	if !r.want(c.name) || r.err != nil {
		return
	}
	trainer, err := train.NewTrainer(model, loss, train.Options{Optimizer: train.Adam(1e-3)})
	if r.err = err; err != nil {
		return
	}
	next := func() float64 {
		loss, err := trainer.Step(context.Background(), batches[trainer.Steps()%len(batches)])
		if err != nil {
			r.err = err
		}
		return loss
	}
	answer := []float64{float64(n)}
	losses := make([]float64, max(n, len(batches)))
	for i := range losses {
		losses[i] = next()
	}
	for _, i := range at {
		answer = append(answer, losses[i-1])
	}
	for trainer.Steps()%len(batches) != 0 {
		next()
	}
	c.inner = len(batches)
	c.check = func(any) []float64 { return answer }
	r.run(c, func() any {
		var last float64
		for range batches {
			last = next()
		}
		return last
	})
}
