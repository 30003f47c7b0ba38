package nn_test

import (
	"slices"
	"testing"

	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// A row of a batch has the bits that it has alone, whatever the batch, eager and traced: models that
// are served in batches answer as they answer single calls.
func TestRowsOfABatchStandAlone(t *testing.T) {
	const most = 40
	key := ops.RandomKey(3)
	rnn, gru, lstm := nn.NewRNN(key, 9, 20), nn.NewGRU(key, 9, 20), nn.NewLSTM(key, 9, 20)
	mlp, heads, block := nn.NewMLP(key, []int{9, 64, 33, 1}), nn.NewMultiHeadAttention(key, 12, 3), nn.NewEncoderBlock(key, 12, 3)
	for name, c := range map[string]struct {
		layer func(tensor.Tensor) tensor.Tensor
		x     tensor.Tensor
	}{
		"MLP":           {mlp.Apply, wave(1, most, 9)},
		"transposed":    {func(x tensor.Tensor) tensor.Tensor { return ops.MatMul(x, ops.Transpose(wave(2, 33, 300))) }, wave(1, most, 300)},
		"RNN":           {func(x tensor.Tensor) tensor.Tensor { _, h := rnn.Apply(x); return h }, wave(1, most, 7, 9)},
		"GRU":           {func(x tensor.Tensor) tensor.Tensor { _, h := gru.Apply(x); return h }, wave(1, most, 7, 9)},
		"LSTM":          {func(x tensor.Tensor) tensor.Tensor { _, h, _ := lstm.Apply(x); return h }, wave(1, most, 7, 9)},
		"attention":     {func(x tensor.Tensor) tensor.Tensor { return heads.Apply(x) }, wave(1, most, 7, 12)},
		"encoder block": {func(x tensor.Tensor) tensor.Tensor { return block.Apply(x) }, wave(1, most, 7, 12)},
	} {
		for way, layer := range map[string]func(tensor.Tensor) tensor.Tensor{"eager": c.layer, "traced": function.New(c.layer).Call} {
			t.Run(name+"/"+way, func(t *testing.T) {
				var alone []float64
				for i := range most {
					alone = append(alone, flat(layer(first(c.x, i, 1)))...)
				}
				for _, n := range []int{2, 3, 8, 17, most} {
					got := flat(layer(first(c.x, 0, n)))
					if want := alone[:len(got)]; !slices.Equal(got, want) {
						i := 0
						for got[i] == want[i] {
							i++
						}
						t.Errorf("%d rows: value %d is %v, alone %v", n, i, got[i], want[i])
					}
				}
			})
		}
	}
}

// first returns n rows of x from row i on.
func first(x tensor.Tensor, i, n int) tensor.Tensor {
	size := x.Shape().Dims()
	begin := make([]int, len(size))
	begin[0], size[0] = i, n
	return ops.Slice(x, begin, size)
}
