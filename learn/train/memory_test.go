package train_test

import (
	"testing"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/profile"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// A step of training takes little more memory than the results that are needed at one
// time.
func TestStepMemory(t *testing.T) {
	type model struct {
		Words nn.Embedding
		Mix   nn.MultiHeadAttention
		Norm  nn.LayerNorm
		Out   nn.Dense
	}
	const words, width = 2000, 64
	dense := func(k uint64) nn.Dense {
		return nn.Dense{Kernel: ops.Mul(ops.RandomUniform(ops.RandomKey(k), []int{width, width}, dtype.Float32), 0.1)}
	}
	params := model{
		nn.NewEmbedding(ops.RandomKey(1), words, width, nn.EmbeddingOptions{}),
		nn.MultiHeadAttention{Query: dense(2), Key: dense(3), Value: dense(4), Out: dense(5), Heads: 4},
		nn.NewLayerNorm(width, nn.NormOptions{}), dense(6),
	}
	loss := func(m model, batch *ragged.Tensor, _ tensor.Tensor) tensor.Tensor {
		x := m.Words.Apply(batch)
		x = m.Norm.Apply(ops.Add(x, m.Mix.Apply(x)))
		return ops.Mean(ops.Square(m.Out.Apply(ops.Mean(x, 1))))
	}
	rows := make([][]int64, 64)
	for r := range rows {
		for w := range 1 + r%40 {
			rows[r] = append(rows[r], int64(r*71+w*5)%words)
		}
	}
	trainer, err := train.NewTrainer(params, loss, train.Options{Optimizer: train.Adam(0.01)})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		var p profile.Profile
		ctx := function.WithOptions(t.Context(), function.RunOptions{Profile: &p})
		if _, err := trainer.Step(ctx, ragged.FromSlices(rows)); err != nil {
			t.Fatal(err)
		}
		held, needed := p.Memory()
		if needed < 4*words*width || float64(held) > 1.3*float64(needed) {
			t.Errorf("the step holds %d bytes and needs %d: %.2f times as many", held, needed, float64(held)/float64(needed))
		}
	}
}
