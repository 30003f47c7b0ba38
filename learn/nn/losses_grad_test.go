package nn_test

import (
	"math"
	"testing"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// wave64 is wave in double precision.
func wave64(start float64, dims ...int) tensor.Tensor {
	return ops.Cast(wave(start, dims...), dtype.Float64)
}

// The gradients of all losses and activations, eager and traced, against central
// differences.
func TestGradientsOfLosses(t *testing.T) {
	labels, other := tensor.Of([]int64{2, 0, 3}), wave64(5, 3, 4)
	sample := nn.UniformSample(ops.RandomKey(2), 5, 3, dtype.Float64)
	losses := map[string]func(x tensor.Tensor) tensor.Tensor{
		"softmax": func(x tensor.Tensor) tensor.Tensor {
			return nn.SoftmaxCrossEntropy(x, labels, nn.CrossEntropyOptions{})
		},
		"smoothed": func(x tensor.Tensor) tensor.Tensor {
			return nn.SoftmaxCrossEntropy(x, labels, nn.CrossEntropyOptions{Smoothing: 0.2})
		},
		"binary": func(x tensor.Tensor) tensor.Tensor {
			return nn.BinaryCrossEntropy(x, ops.Greater(other, 0.0), nn.BinaryOptions{Positive: 2.5})
		},
		"Huber":       func(x tensor.Tensor) tensor.Tensor { return nn.Huber(x, other, 0.3) },
		"cosine":      func(x tensor.Tensor) tensor.Tensor { return nn.Cosine(x, other) },
		"squared":     func(x tensor.Tensor) tensor.Tensor { return nn.SquaredError(x, other) },
		"normalize":   func(x tensor.Tensor) tensor.Tensor { return ops.Mul(nn.Normalize(x), other) },
		"contrastive": func(x tensor.Tensor) tensor.Tensor { return nn.Contrastive(x, other, nn.ContrastiveOptions{}) },
		"symmetric": func(x tensor.Tensor) tensor.Tensor {
			return nn.Contrastive(other, x, nn.ContrastiveOptions{Temperature: 0.5, Symmetric: true})
		},
		"sampled softmax, items": func(x tensor.Tensor) tensor.Tensor {
			return nn.SampledSoftmax(other, nil, x, tensor.Of([]int64{2, 0, 1}), sample, nn.SampledOptions{})
		},
		"sampled softmax, weights": func(x tensor.Tensor) tensor.Tensor {
			return nn.SampledSoftmax(x, wave64(8, 3), other, tensor.Of([]int64{2, 0, 1}), sample, nn.SampledOptions{})
		},
	}
	for _, a := range []nn.Activation{nn.Linear, nn.Relu, nn.Gelu, nn.GeluTanh, nn.Silu, nn.Sigmoid, nn.Tanh, nn.Softplus, nn.Mish} {
		losses["activation "+string(a)] = a.Apply
	}
	x := wave64(1, 3, 4)
	data := tensor.Data[float64](x)
	for name, f := range losses {
		loss := func(x tensor.Tensor) tensor.Tensor { return ops.Sum(f(x)) }
		got := tensor.Data[float64](grad.Of(loss)(x))
		traced := tensor.Data[float64](function.New(grad.Of(loss)).Call(x))
		for i := range data {
			at := func(step float64) float64 {
				moved := append([]float64(nil), data...)
				moved[i] += step
				return tensor.Item[float64](loss(tensor.Of(moved, 3, 4)))
			}
			const step = 1e-6
			want := (at(step) - at(-step)) / (2 * step)
			if math.Abs(got[i]-want) > 1e-6*(1+math.Abs(want)) || math.Abs(traced[i]-got[i]) > 1e-12*(1+math.Abs(want)) {
				t.Errorf("%s: gradient %d is %v, traced %v, want %v", name, i, got[i], traced[i], want)
			}
		}
	}
}
