package nn_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
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

// Losses, means and metrics over items some of which are missing are those over the others, whatever is stored in
// place of the missing ones, and so are gradients.
func TestLossesLeaveMissingItemsOut(t *testing.T) {
	mask := tensor.Of([]bool{true, true, false, true, false, false}, 2, 3)
	there := []int64{0, 1, 3}
	present := func(x tensor.Tensor) tensor.Tensor {
		return ops.Gather(ops.Reshape(x, append([]int{6}, x.Shape().Dims()[2:]...)), there, 0)
	}
	labels := tensor.Of([]int64{1, 2, 99, 3, -7, 99}, 2, 3)
	hidden := func(start float64, dims ...int) tensor.Tensor {
		m := mask
		for range dims[2:] {
			m = ops.ExpandDims(m, -1)
		}
		return ops.Where(m, wave64(start, dims...), math.NaN())
	}
	number, vector := hidden(1, 2, 3), hidden(2, 2, 3, 4)
	class := tensor.Of([]float64{1, 2, 3, 4})
	entropy := func(o nn.CrossEntropyOptions) func(x, y tensor.Tensor) tensor.Tensor {
		return func(x, y tensor.Tensor) tensor.Tensor { return nn.SoftmaxCrossEntropy(x, y, o) }
	}
	of := func(x float64) tensor.Tensor { return tensor.Scalar(x) }
	for name, c := range map[string]struct {
		f    func(x, y tensor.Tensor) tensor.Tensor
		x, y tensor.Tensor
	}{
		"squared":                {nn.SquaredError, number, hidden(3, 2, 3)},
		"binary":                 {func(x, y tensor.Tensor) tensor.Tensor { return nn.BinaryCrossEntropy(x, y) }, number, hidden(3, 2, 3)},
		"cosine":                 {func(x, y tensor.Tensor) tensor.Tensor { return nn.Cosine(x, y) }, vector, hidden(3, 2, 3, 4)},
		"focal":                  {func(x, y tensor.Tensor) tensor.Tensor { return nn.Focal(x, y, 2) }, vector, labels},
		"margin":                 {func(x, y tensor.Tensor) tensor.Tensor { return nn.MultiMargin(x, y, 1) }, vector, labels},
		"softmax":                {entropy(nn.CrossEntropyOptions{Smoothing: 0.1, Weights: class}), vector, labels},
		"softmax, weighted mean": {entropy(nn.CrossEntropyOptions{Weights: class, Reduction: nn.MeanLoss}), vector, labels},
		"softmax, mean of some":  {entropy(nn.CrossEntropyOptions{Ignore: []int64{2}, Reduction: nn.MeanLoss}), vector, labels},
		"weighted mean":          {func(x, y tensor.Tensor) tensor.Tensor { return nn.MeanLoss.Of(nn.Weighted(x, y), y) }, number, hidden(3, 2, 3)},
		"streaming mean": {func(x, y tensor.Tensor) tensor.Tensor {
			return of(nn.NewMean().Update(nn.SquaredError(ops.StopGradient(x), y), nil).Result())
		}, number, hidden(3, 2, 3)},
		"streaming mean, weighted": {func(x, y tensor.Tensor) tensor.Tensor {
			return of(nn.NewMean().Update(ops.StopGradient(x), y).Result())
		}, number, hidden(3, 2, 3)},
		"accuracy": {func(x, y tensor.Tensor) tensor.Tensor {
			return of(nn.NewAccuracy().Update(ops.StopGradient(x), y).Result())
		}, vector, labels},
		"area": {func(x, y tensor.Tensor) tensor.Tensor {
			return of(nn.NewAUC(0, nn.Logits).Update(ops.StopGradient(x), ops.Equal(y, int64(2))).Result())
		}, number, labels},
	} {
		whole := ops.Sum(c.f(present(c.x), present(c.y)))
		slope := ops.Reshape(grad.Of(func(x tensor.Tensor) tensor.Tensor { return ops.Sum(c.f(present(x), present(c.y))) })(c.x), c.x.Shape().Dims())
		for kind, as := range map[string]func(x, y tensor.Tensor) (tensor.Tensor, tensor.Tensor){
			"both":   func(x, y tensor.Tensor) (tensor.Tensor, tensor.Tensor) { return maskedBy(mask, x), maskedBy(mask, y) },
			"first":  func(x, y tensor.Tensor) (tensor.Tensor, tensor.Tensor) { return maskedBy(mask, x), y },
			"second": func(x, y tensor.Tensor) (tensor.Tensor, tensor.Tensor) { return x, maskedBy(mask, y) },
		} {
			f := func(x tensor.Tensor) tensor.Tensor { return ops.Sum(c.f(as(x, c.y))) }
			if err := tensor.AllClose(f(c.x), whole); err != nil {
				t.Errorf("%s, %s masked: %v", name, kind, err)
			}
			if err := tensor.AllClose(grad.Of(f)(c.x), slope); err != nil {
				t.Errorf("gradient of %s, %s masked: %v", name, kind, err)
			}
		}
	}
	if _, err := tenon.Try(func() any {
		return nn.Contrastive(maskedBy(tensor.Of([]bool{true, false}), wave64(1, 2, 3)), wave64(2, 2, 3))
	}); !errors.Is(err, tenon.ErrUnsupported) {
		t.Errorf("missing keys: %v", err)
	}
	// The sums of many items are beyond the numbers of 16 bits, their means are not.
	many := maskedBy(ops.Ones(dtype.Bool, []int{70_000}), ops.Cast(ops.Fill([]int{70_000}, 2.0), dtype.Float16))
	for name, got := range map[string]tensor.Tensor{
		"mean": nn.MeanLoss.Of(many, nil), "weighted mean": nn.MeanLoss.Of(many, many.(*masked.Tensor).Values()),
		"means of rows": nn.RowMeans.Of(tensorOf(ragged.FromRowLengths(many.(*masked.Tensor).Values(), []int64{70_000})), nil),
		"of one pool":   ops.Squeeze(nn.GlobalPool{Kind: nn.MeanPool}.Apply(maskedBy(ops.Ones(dtype.Bool, []int{1, 70_000}), ops.Reshape(many.(*masked.Tensor).Values(), []int{1, -1, 1})))),
	} {
		want := 2.0
		if name == "weighted mean" {
			want = 1
		}
		if got.DType() != dtype.Float16 || tensor.Item[float64](ops.Cast(got, dtype.Float64)) != want {
			t.Errorf("%s in 16 bits: %v, want %v", name, got, want)
		}
	}
	u := nn.Normalize(named.Of(wave64(1, 3, 2), rep{}, batch{}), nn.VectorOptions{Features: rep{}})
	if err := tensor.AllClose(named.Unnamed(u, batch{}, rep{}), nn.Normalize(ops.Transpose(wave64(1, 3, 2), 1, 0))); err != nil {
		t.Errorf("named vectors: %v", err)
	}
	if s := nn.NewEmbedding(ops.RandomKey(1), 5, 3).Apply(maskedBy(mask, labels)).Shape(); s.Rank() != 3 {
		t.Errorf("vectors of labels: %v", s)
	}
	if _, err := tenon.Try(func() any { return nn.NewAccuracy().Update(wave(1, 3, 4), labels) }); !errors.Is(err, tenon.ErrShape) {
		t.Errorf("labels of other items: %v", err)
	}
	if _, err := tenon.Try(func() any { return nn.NewAccuracy().Update(wave(1, 2, 3, 4), labels) }); err == nil || !strings.Contains(err.Error(), "[0, 2]: index 99") {
		t.Errorf("labels that are no class: %v", err)
	}
}

func maskedBy(mask, x tensor.Tensor) tensor.Tensor { return tenon.Must(masked.New(x, mask)) }
