package nn_test

import (
	"maps"
	"math"
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

// layersOfItems are layers that keep items of four features as they lie.
func layersOfItems() map[string]func(x tensor.Tensor) tensor.Tensor {
	k := ops.RandomKeys(ops.RandomKey(6), 9)
	d, names := dtype.Float64, nn.Names{In: rep{}, Along: seq{}}
	norm, rms := nn.NewLayerNorm(4, nn.NormOptions{DType: d, Names: names}), nn.NewRMSNorm(4, nn.NormOptions{DType: d, Names: names})
	norm.Offset, rms.Scale = ops.Cast(wave(1, 4), d), ops.Cast(wave(2, 4), d)
	dense := nn.NewDense(k[0], 4, 4, nn.DenseOptions{Activation: nn.Gelu, DType: d, Names: names})
	mlp := nn.NewMLP(k[1], []int{4, 5, 4}, nn.MLPOptions{Activation: nn.Tanh, DType: d, Names: names})
	learned := nn.NewPositions(k[2], 5, 4, nn.EmbeddingOptions{DType: d, Names: names})
	mix := nn.NewMultiHeadAttention(k[3], 4, 2, nn.AttentionOptions{DType: d, Names: names})
	gru := nn.NewGRU(k[4], 4, 4, nn.RecurrentOptions{DType: d, Names: names})
	lstm := nn.NewLSTM(k[5], 4, 4, nn.RecurrentOptions{DType: d, Names: names, Reverse: true})
	both := nn.NewStack(k[6], 2, 4, 2, true, func(key tensor.Tensor, in int, reverse bool) nn.GRU {
		return nn.NewGRU(key, in, 2, nn.RecurrentOptions{Reverse: reverse, DType: d, Names: names})
	})
	batch, running := nn.NewBatchNorm(4, nn.BatchNormOptions{DType: d, Names: names})
	running.Mean, running.Variance = ops.Cast(wave(3, 4), d), tensor.Of([]float64{1, 2, 3, 4})
	m := nn.NewMoments(4).Update(wave(5, 6, 4)).Scaler(nn.MinMax, d)
	m.Names = names
	out := layersOfRows(dtype.Float64)
	maps.Copy(out, map[string]func(x tensor.Tensor) tensor.Tensor{
		"layer norm": norm.Apply, "RMS norm": rms.Apply, "dense": dense.Apply, "MLP": mlp.Apply,
		"learned positions": learned.Apply, "sinusoidal positions": nn.Positions{Names: names}.Apply, "attention": mix.Apply,
		"GRU":        func(x tensor.Tensor) tensor.Tensor { y, _ := gru.Apply(x); return y },
		"LSTM":       func(x tensor.Tensor) tensor.Tensor { y, _, _ := lstm.Apply(x); return y },
		"both ways":  func(x tensor.Tensor) tensor.Tensor { y, _ := both.Apply(x); return y },
		"batch norm": func(x tensor.Tensor) tensor.Tensor { return batch.Apply(x, running) },
		"batch's statistics": func(x tensor.Tensor) tensor.Tensor {
			y, _ := batch.Train(x, running)
			return y
		},
		"scaler":  m.Apply,
		"dropout": func(x tensor.Tensor) tensor.Tensor { return nn.Dropout{Rate: 0.5, Names: names}.Apply(nil, x) },
	})
	return out
}

// layersOfWholes are layers that make one vector of four features of a row.
func layersOfWholes() map[string]func(x tensor.Tensor) tensor.Tensor {
	k := ops.RandomKeys(ops.RandomKey(7), 4)
	d, names := dtype.Float64, nn.Names{In: rep{}, Along: seq{}}
	rnn := nn.NewRNN(k[0], 4, 4, nn.RecurrentOptions{DType: d, Names: names, Reverse: true})
	gru := nn.NewGRU(k[1], 4, 4, nn.RecurrentOptions{DType: d, Names: names})
	lstm := nn.NewLSTM(k[2], 4, 4, nn.RecurrentOptions{DType: d, Names: names})
	set := nn.NewSet(k[3], []int{4, 4}, []int{4}, nn.SetOptions{DType: d, Heads: 2})
	set.Pool.Names = names
	for i := range set.Each.Layers {
		set.Each.Layers[i].Names = nn.Names{In: rep{}}
	}
	for i := range set.Out.Layers {
		set.Out.Layers[i].Names = nn.Names{In: rep{}}
	}
	return map[string]func(x tensor.Tensor) tensor.Tensor{
		"mean of all":     nn.GlobalPool{Kind: nn.MeanPool, Names: names}.Apply,
		"greatest of all": nn.GlobalPool{Kind: nn.MaxPool, Names: names}.Apply,
		"set":             set.Apply,
		"last of RNN":     func(x tensor.Tensor) tensor.Tensor { _, h := rnn.Apply(x); return h },
		"last of GRU":     func(x tensor.Tensor) tensor.Tensor { _, h := gru.Apply(x); return h },
		"last of LSTM":    func(x tensor.Tensor) tensor.Tensor { _, _, c := lstm.Apply(x); return c },
	}
}

// Every layer gives the same for ragged rows, for dense ones as long as the row, for padded ones under a mask, whatever
// hides there, and by names, at once and traced. So are the slopes, which finite differences confirm.
func TestEveryLayerOverEveryKind(t *testing.T) {
	lengths := []int64{3, 0, 5, 1}
	flat := ops.Cast(wave(3, 9, 4), dtype.Float64)
	splits := ragged.FromSlices([][]int64{{0, 0, 0}, {}, {0, 0, 0, 0, 0}, {0}}).RowSplits()
	mask := ops.SequenceMask(tensor.Of(lengths), 5)
	kinds := map[string]struct {
		of   func(flat tensor.Tensor) tensor.Tensor
		back func(y tensor.Tensor, whole bool) tensor.Tensor // [9, 4], or [4, 4] of whole rows
	}{
		"ragged": {func(x tensor.Tensor) tensor.Tensor { return tensorOf(ragged.FromRowSplits(x, splits)) },
			func(y tensor.Tensor, whole bool) tensor.Tensor {
				if whole {
					return y
				}
				return y.(*ragged.Tensor).FlatValues()
			}},
		"masked": {func(x tensor.Tensor) tensor.Tensor { return padded(x, splits, mask) },
			func(y tensor.Tensor, whole bool) tensor.Tensor {
				if whole {
					return y
				}
				return ops.BooleanMask(y.(*masked.Tensor).Values(), mask, 0)
			}},
		"named": {func(x tensor.Tensor) tensor.Tensor {
			return named.Of(tensorOf(ragged.FromRowSplits(x, splits)), batch{}, seq{}, rep{})
		}, func(y tensor.Tensor, whole bool) tensor.Tensor {
			if whole {
				return named.Unnamed(y, batch{}, rep{})
			}
			return named.Unnamed(y, batch{}, seq{}, rep{}).(*ragged.Tensor).FlatValues()
		}},
		"named, masked": {func(x tensor.Tensor) tensor.Tensor {
			return named.Of(padded(x, splits, mask), batch{}, seq{}, rep{})
		}, func(y tensor.Tensor, whole bool) tensor.Tensor {
			if whole {
				return named.Unnamed(y, batch{}, rep{})
			}
			return ops.BooleanMask(named.Unnamed(y, batch{}, seq{}, rep{}).(*masked.Tensor).Values(), mask, 0)
		}},
	}
	w := map[bool]tensor.Tensor{false: ops.Cast(wave(5, 9, 4), dtype.Float64), true: ops.Cast(wave(6, 4, 4), dtype.Float64)}
	check := func(name string, f func(tensor.Tensor) tensor.Tensor, whole bool) {
		want := kinds["ragged"].back(f(kinds["ragged"].of(flat)), whole)
		loss := func(kind string) func(x tensor.Tensor) tensor.Tensor {
			k := kinds[kind]
			return func(x tensor.Tensor) tensor.Tensor {
				return ops.Sum(ops.Mul(k.back(f(k.of(x)), whole), w[whole]))
			}
		}
		slope := grad.Of(loss("ragged"))(flat)
		at := func(h float64) float64 {
			return tensor.Item[float64](loss("ragged")(ops.Add(flat, ops.Mul(slope, h))))
		}
		size := tensor.Item[float64](ops.Sum(ops.Square(slope)))
		if got := (at(1e-6) - at(-1e-6)) / 2e-6; math.Abs(got-size) > 1e-6*math.Max(1, size) {
			t.Errorf("%s: along its gradient it grows by %v, want %v", name, got, size)
		}
		for kind, k := range kinds {
			for how, f := range map[string]func(tensor.Tensor) tensor.Tensor{"at once": f, "traced": function.New(f).Call} {
				y, err := tenon.Try(func() tensor.Tensor { return k.back(f(k.of(flat)), whole) })
				if err == nil {
					err = tensor.AllClose(y, want)
				}
				if err != nil {
					t.Errorf("%s, %s, %s: %v", name, kind, how, err)
				}
			}
			g, err := tenon.Try(func() tensor.Tensor { return function.New(grad.Of(loss(kind))).Call(flat) })
			if err == nil {
				err = tensor.AllClose(g, slope)
			}
			if err != nil {
				t.Errorf("%s, %s: gradient: %v", name, kind, err)
			}
		}
		if name == "batch's statistics" { // those of one row are others
			return
		}
		for i, from := range []int{0, 3, 3, 8} {
			n := int(lengths[i])
			if n == 0 {
				continue
			}
			row := ops.ExpandDims(ops.Slice(flat, []int{from, 0}, []int{n, 4}), 0)
			var part tensor.Tensor
			if whole {
				part = ops.Index(want, i)
			} else {
				part = ops.Slice(want, []int{from, 0}, []int{n, 4})
			}
			if err := tensor.AllClose(ops.Index(f(row), 0), part); err != nil {
				t.Errorf("%s, dense row %d: %v", name, i, err)
			}
		}
	}
	for name, f := range layersOfItems() {
		check(name, f, false)
	}
	for name, f := range layersOfWholes() {
		check(name, f, true)
	}
}

// padded fills rows up with NaN, which a mask hides.
func padded(flat, splits, mask tensor.Tensor) tensor.Tensor {
	rows := tensorOf(ragged.FromRowSplits(flat, splits))
	return tenon.Must(masked.New(tenon.Must(rows.ToDense(ragged.DenseOptions{Default: math.NaN()})), mask))
}
