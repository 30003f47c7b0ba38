package nn_test

import (
	"fmt"

	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// A classifier of sentences: attention among the words of each, whatever their number.
func Example() {
	type Model struct {
		Words nn.Embedding
		Mix   nn.MultiHeadAttention
		Out   nn.Dense
	}
	k := ops.RandomKeys(ops.RandomKey(1), 3)
	model := Model{
		Words: nn.NewEmbedding(k[0], 100, 8, nn.EmbeddingOptions{}),
		Mix:   nn.NewMultiHeadAttention(k[1], 8, 2, nn.AttentionOptions{}),
		Out:   nn.NewDense(k[2], 8, 3, nn.DenseOptions{}),
	}
	loss := func(m Model, sentences *ragged.Tensor) tensor.Tensor {
		x := m.Mix.Apply(m.Words.Apply(sentences)) // [2, (words), 8]
		logits := m.Out.Apply(ops.Mean(x, 1))      // [2, 3]
		return ops.Mean(nn.SoftmaxCrossEntropy(logits, tensor.Of([]int64{2, 0}), nn.CrossEntropyOptions{}))
	}
	_, gradient := grad.ValueAndGrad(loss)(model, ragged.FromSlices([][]int64{{7, 3, 99}, {42}}))
	fmt.Println(nn.Size(model), gradient.Out.Bias.Shape())
	// Output: 1115 [3]
}
