package nn_test

import (
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

type (
	film  struct{ named.Dim[film] }
	frame struct{ named.Dim[frame] }
	down  struct{ named.Dim[down] }
	right struct{ named.Dim[right] }
)

// Layers over named planes do what they do without names, whatever the order of dimensions, with several dimensions of
// a batch, of unknown sizes, and where items are missing.
func TestLayersOverNamedPlanes(t *testing.T) {
	d, names := dtype.Float64, nn.Names{In: rep{}, Plane: []named.Name{down{}, right{}}}
	x := ops.Cast(wave(1, 2, 3, 4, 5, 6), d)
	mask := ops.Index(ops.Greater(x, 0.0), key.Ellipsis, 0)
	order := []named.Name{film{}, frame{}, down{}, right{}, rep{}}
	for name, f := range map[string]func(nn.Names) func(tensor.Tensor) tensor.Tensor{
		"group norm": func(n nn.Names) func(tensor.Tensor) tensor.Tensor {
			return nn.NewGroupNorm(6, 2, nn.NormOptions{DType: d, Names: n}).Apply
		},
		"instance norm": func(n nn.Names) func(tensor.Tensor) tensor.Tensor {
			return nn.NewInstanceNorm(6, nn.NormOptions{DType: d, Names: n}).Apply
		},
		"dropout": func(n nn.Names) func(tensor.Tensor) tensor.Tensor {
			return func(x tensor.Tensor) tensor.Tensor {
				return nn.Dropout{Rate: 0.5, Kind: nn.DropFeatures, Names: n}.Apply(ops.RandomKey(1), x)
			}
		},
		"mean of all": func(n nn.Names) func(tensor.Tensor) tensor.Tensor {
			return nn.GlobalPool{Kind: nn.MeanPool, Names: n}.Apply
		},
		"greatest of all": func(n nn.Names) func(tensor.Tensor) tensor.Tensor {
			return nn.GlobalPool{Kind: nn.MaxPool, Names: n}.Apply
		},
	} {
		whole, plain := f(names), f(nn.Names{})
		for kind, of := range map[string]func(x, mask tensor.Tensor) tensor.Tensor{
			"dense":  func(x, _ tensor.Tensor) tensor.Tensor { return x },
			"masked": maskedOf,
		} {
			bare := func(y tensor.Tensor) tensor.Tensor {
				if m, ok := y.(*masked.Tensor); ok {
					return masked.Fill(m, 0.0)
				}
				return y
			}
			want := bare(plain(of(ops.Reshape(x, []int{6, 4, 5, 6}), ops.Reshape(mask, []int{6, 4, 5}))))
			run := func(x, mask tensor.Tensor) tensor.Tensor {
				y := whole(named.Of(of(ops.Transpose(x, 0, 2, 1, 3, 4), ops.Transpose(mask, 0, 2, 1, 3)), film{}, down{}, frame{}, right{}, rep{}))
				if y.Shape().Rank() == 5 {
					return bare(named.Unnamed(y, order...))
				}
				return bare(named.Unnamed(y, film{}, frame{}, rep{}))
			}
			traced := function.New(run, function.Options{RelaxAfter: 1})
			for how, run := range map[string]func(x, mask tensor.Tensor) tensor.Tensor{"at once": run, "traced": func(x, mask tensor.Tensor) tensor.Tensor {
				traced.Call(ops.Concat([]any{x, x}, 2), ops.Concat([]any{mask, mask}, 2))
				return traced.Call(x, mask)
			}} {
				y, err := tenon.Try(func() tensor.Tensor { return ops.Reshape(run(x, mask), want.Shape().Dims()) })
				if err == nil {
					err = tensor.AllClose(y, want)
				}
				if err != nil {
					t.Errorf("%s, %s, %s: %v", name, kind, how, err)
				}
			}
		}
	}
	for _, kind := range []nn.Pooling{nn.MeanPool, nn.MaxPool} {
		near(t, "no positions", nn.GlobalPool{Kind: kind}.Apply(ops.Zeros(d, []int{1, 0, 3})), 0, 0, 0)
	}
}

func maskedOf(x, mask tensor.Tensor) tensor.Tensor { return tenon.Must(masked.New(x, mask)) }

// In 16 bits, each layer gives what it gives in 32, up to rounding, in this type, also its gradient.
func TestLayersIn16Bits(t *testing.T) {
	rows := func(x tensor.Tensor) tensor.Tensor { return tensorOf(ragged.FromRowLengths(x, []int64{3, 0, 5, 1})) }
	x := wave(3, 9, 4)
	exact := layersOfRows(dtype.Float32)
	for _, d := range []dtype.DType{dtype.BFloat16, dtype.Float16} {
		for name, f := range layersOfRows(d) {
			loss := func(x tensor.Tensor) tensor.Tensor { return ops.Sum(f(rows(x)).(*ragged.Tensor).FlatValues()) }
			y, err := tenon.Try(func() tensor.Tensor { return f(rows(ops.Cast(x, d))).(*ragged.Tensor).FlatValues() })
			if err == nil {
				err = tensor.AllClose(ops.Cast(y, dtype.Float32), exact[name](rows(x)).(*ragged.Tensor).FlatValues(), tensor.CloseOptions{ATol: 0.1, RTol: 0.05})
			}
			if err != nil || y.DType() != d {
				t.Errorf("%s in %v: %v", name, d, err)
			} else if g := grad.Of(loss)(ops.Cast(x, d)); g.DType() != d {
				t.Errorf("%s in %v: the gradient is %v", name, d, g.DType())
			}
		}
	}
}

// Losses of rows are those of ragged rows for masked and dense ones, also of unknown sizes.
func TestLossesOfRowsOfEveryKind(t *testing.T) {
	x := ops.Cast(wave(1, 3, 5, 4), dtype.Float64)
	steps, labels := tensor.Of([]int64{5, 3, 4}), tensor.Of([]int64{1, 1, 3, 7, 2, 3}, 3, 2)
	many := tensor.Of([]int64{2, 1, 2})
	scores, relevance := ops.Index(x, key.Ellipsis, 0), tensor.Of([]int64{1, 0, 2, 2, 0, 0, 1, 3, 9, 9, 1, 1, 0, 2, 9}, 3, 5)
	under := func(x, lengths tensor.Tensor) tensor.Tensor {
		return maskedOf(x, ops.SequenceMask(lengths, x.Shape().Dim(1)))
	}
	divided := func(x, lengths tensor.Tensor) tensor.Tensor {
		return tensorOf(ragged.FromDense(x, ragged.FromDenseOptions{Lengths: []any{lengths}}))
	}
	for name, c := range map[string]struct {
		f    func(x, y tensor.Tensor) tensor.Tensor
		x, y tensor.Tensor
		n, m tensor.Tensor
	}{
		"CTC":      {func(x, y tensor.Tensor) tensor.Tensor { return nn.CTC(x, y, 0) }, x, labels, steps, many},
		"ListNet":  {nn.ListNet, scores, relevance, tensor.Of([]int64{5, 3, 4}), tensor.Of([]int64{5, 3, 4})},
		"pairwise": {nn.PairwiseLogistic, scores, relevance, tensor.Of([]int64{5, 3, 4}), tensor.Of([]int64{5, 3, 4})},
	} {
		want := c.f(divided(c.x, c.n), divided(c.y, c.m))
		for kind, f := range map[string]func(x, y tensor.Tensor) tensor.Tensor{
			"masked":               func(x, y tensor.Tensor) tensor.Tensor { return c.f(under(x, c.n), under(y, c.m)) },
			"masked labels":        func(x, y tensor.Tensor) tensor.Tensor { return c.f(divided(x, c.n), under(y, c.m)) },
			"masked, more axes":    func(x, y tensor.Tensor) tensor.Tensor { return ops.Squeeze(c.f(under2(x, c.n), under2(y, c.m)), 0) },
			"dense, row after row": func(x, y tensor.Tensor) tensor.Tensor { return eachRow(c.f, x, y, c.n, c.m) },
		} {
			for how, f := range map[string]func(x, y tensor.Tensor) tensor.Tensor{"at once": f, "traced": function.New(f).Call} {
				y, err := tenon.Try(func() tensor.Tensor { return f(c.x, c.y) })
				if err == nil {
					err = tensor.AllClose(y, want)
				}
				if err != nil {
					t.Errorf("%s, %s, %s: %v", name, kind, how, err)
				}
			}
		}
		full := func(x, y tensor.Tensor) tensor.Tensor { return c.f(x, ops.Minimum(y, int64(3))) }
		traced := function.New(full, function.Options{RelaxAfter: 1})
		traced.Call(ops.Concat([]any{c.x, c.x}, 0), ops.Concat([]any{c.y, c.y}, 0))
		if err := tensor.AllClose(traced.Call(c.x, c.y), full(c.x, c.y)); err != nil {
			t.Errorf("%s, dense rows of unknown number: %v", name, err)
		}
	}
}

// under2 has one more axis in front.
func under2(x, lengths tensor.Tensor) tensor.Tensor {
	return maskedOf(ops.ExpandDims(x, 0), ops.ExpandDims(ops.SequenceMask(lengths, x.Shape().Dim(1)), 0))
}

// eachRow applies f to each row by itself.
func eachRow(f func(x, y tensor.Tensor) tensor.Tensor, x, y, n, m tensor.Tensor) tensor.Tensor {
	var out []any
	for i := range x.Shape().Dim(0) {
		cut := func(x, lengths tensor.Tensor) tensor.Tensor {
			row := ops.Index(x, i)
			begin, size := make([]int, row.Shape().Rank()), make([]int, row.Shape().Rank())
			for k := range size {
				size[k] = -1
			}
			size[0] = int(tensor.Data[int64](lengths)[i])
			return ops.Slice(row, begin, size)
		}
		out = append(out, f(cut(x, n), cut(y, m)))
	}
	return ops.Stack(out, 0)
}
