package nn_test

import (
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

// A set is what its items are, in any order, in rows, under a mask, with names and alone; an empty one is 0.
func TestSets(t *testing.T) {
	d := dtype.Float64
	flat := ops.Cast(wave(3, 6, 4), d)
	rows := tensorOf(ragged.FromRowLengths(flat, []int64{2, 0, 4}))
	turned := tensorOf(ragged.FromRowLengths(ops.Gather(flat, tensor.Of([]int64{1, 0, 4, 2, 5, 3}), 0), []int64{2, 0, 4}))
	padded := ops.Stack([]any{
		ops.Concat([]any{ops.Slice(flat, []int{0, 0}, []int{1, 4}), ops.Fill([]int{2, 4}, math.NaN()), ops.Slice(flat, []int{1, 0}, []int{1, 4})}, 0),
		ops.Fill([]int{4, 4}, math.NaN()), ops.Slice(flat, []int{2, 0}, []int{4, 4}),
	}, 0)
	there := tensor.Of([]bool{true, false, false, true, false, false, false, false, true, true, true, true}, 3, 4)
	m := tenon.Must(masked.New(padded, there))
	for name, o := range map[string]nn.SetOptions{
		"sum": {}, "mean": {Pool: nn.BagMean}, "max": {Pool: nn.BagMax}, "heads": {Heads: 3},
	} {
		o.DType, o.Activation = d, nn.Tanh
		s := nn.NewSet(ops.RandomKey(7), []int{4, 5, 6}, []int{3}, o)
		y := s.Apply(rows)
		if got := y.Shape(); got.Dim(0) != 3 || got.Dim(1) != 3 {
			t.Fatalf("%s: %v", name, got)
		}
		traced := function.New(nn.Set.Apply, function.Options{RelaxAfter: 1})
		traced.Call(s, tensorOf(ragged.FromRowLengths(ops.Cast(wave(3, 3, 4), d), []int64{3})))
		last := ops.Slice(flat, []int{2, 0}, []int{4, 4})
		s.Pool.Names = nn.Names{In: rep{}, Along: seq{}}
		for how, got := range map[string]tensor.Tensor{
			"in another order": s.Apply(turned), "masked": s.Apply(m), "traced": traced.Call(s, rows), "traced, masked": traced.Call(s, m),
			"alone":         ops.Concat([]any{ops.Slice(y, []int{0, 0}, []int{2, 3}), s.Apply(ops.ExpandDims(last, 0))}, 0),
			"dense, traced": ops.Concat([]any{ops.Slice(y, []int{0, 0}, []int{2, 3}), traced.Call(s, ops.ExpandDims(last, 0))}, 0),
		} {
			if err := tensor.AllClose(got, y); err != nil {
				t.Errorf("%s, %s: %v", name, how, err)
			}
		}
		byName := nn.SetPool{Kind: s.Pool.Kind, Names: nn.Names{In: rep{}, Along: seq{}}}
		byName.Query = nil
		want := nn.SetPool{Kind: s.Pool.Kind}.Apply(ops.ExpandDims(last, 0))
		if got := byName.Apply(named.Of(ops.Transpose(last, 1, 0), rep{}, seq{})); tensor.AllClose(named.Unnamed(got, rep{}), ops.Index(want, 0)) != nil {
			t.Errorf("%s with names: %v, want %v", name, got, want)
		}
		loss := func(s nn.Set) tensor.Tensor { return ops.Sum(ops.Square(s.Apply(rows))) }
		g := grad.Of(loss)(s)
		kernel := s.Each.Layers[0].Kernel
		along := func(step float64) float64 {
			moved := s
			moved.Each.Layers = append([]nn.Dense(nil), s.Each.Layers...)
			moved.Each.Layers[0].Kernel = ops.Add(kernel, ops.Mul(g.Each.Layers[0].Kernel, step))
			return tensor.Item[float64](loss(moved))
		}
		slope := tensor.Item[float64](ops.Sum(ops.Square(g.Each.Layers[0].Kernel)))
		if got := (along(1e-6) - along(-1e-6)) / 2e-6; slope == 0 || math.Abs(got-slope) > 1e-6*slope {
			t.Errorf("%s: the slope along the gradient is %v, want %v", name, got, slope)
		}
	}
	empty := nn.SetPool{Kind: nn.BagMax}.Apply(rows)
	if got := tensor.Data[float64](ops.Index(empty, 1)); got[0] != 0 {
		t.Errorf("the greatest of nothing: %v", got)
	}
	for name, f := range map[string]func() tensor.Tensor{
		"no items":     func() tensor.Tensor { return nn.SetPool{}.Apply(ops.Index(flat, 0)) },
		"another pool": func() tensor.Tensor { return nn.SetPool{Kind: "median"}.Apply(rows) },
		"odd heads": func() tensor.Tensor {
			return nn.NewSet(ops.RandomKey(1), []int{4, 5}, []int{1}, nn.SetOptions{Heads: 2}).Pool.Query
		},
	} {
		if _, err := tenon.Try(f); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
