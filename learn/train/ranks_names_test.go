package train_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/scale/mesh"
	"github.com/tenonml/tenon/tensor"
)

type (
	rowName    struct{ named.Dim[rowName] }
	inName     struct{ named.Dim[inName] }
	hiddenName struct{ named.Dim[hiddenName] }
)

type namedModel struct{ Up, Down *named.Tensor }

type namedBatch struct{ X, Y *named.Tensor }

func namedWaves(seed float64, dims ...named.Sized) *named.Tensor {
	n, sizes, names := 1, []int{}, []named.Name{}
	for _, d := range dims {
		n *= d.Size()
		sizes, names = append(sizes, d.Size()), append(names, d.Name())
	}
	x := make([]float64, n)
	for i := range x {
		x[i] = math.Sin(seed + 1.3*float64(i))
	}
	return named.Of(ops.Reshape(tensor.Of(x), sizes), names...)
}

// A loss is divided by names: rows of the batch along one axis of the mesh and hidden units along another, with
// parameters and what is kept for them stored in parts along both.
func TestRanksByNames(t *testing.T) {
	loss := func(m namedModel, b namedBatch, _ tensor.Tensor) tensor.Tensor {
		y := named.Dot[hiddenName](ops.Tanh(named.Dot[inName](b.X, m.Up)), m.Down)
		return ops.Mean(ops.Square(ops.Sub(y, b.Y)))
	}
	options := func() train.FitOptions[namedModel, namedBatch] {
		return train.FitOptions[namedModel, namedBatch]{
			Options: train.Options{Optimizer: train.AdamW(0.05), ClipNorm: 0.5},
			Data: train.Source[namedBatch]{Batches: 3, At: func(_ context.Context, at int) (namedBatch, error) {
				return namedBatch{namedWaves(float64(at), rowName{}.Of(5), inName{}.Of(4)), namedWaves(float64(-at), rowName{}.Of(5), inName{}.Of(4))}, nil
			}},
		}
	}
	model := namedModel{namedWaves(1, inName{}.Of(4), hiddenName{}.Of(7)), namedWaves(2, hiddenName{}.Of(7), inName{}.Of(4))}
	want, err := train.Fit(t.Context(), model, loss, options())
	if err != nil {
		t.Fatal(err)
	}
	for _, axes := range [][]mesh.Axis{{{Name: "data", Size: 2}, {Name: "model", Size: 2}}, {{Name: "data", Size: 1}, {Name: "model", Size: 3}}} {
		err := dist.Simulate(t.Context(), axes[0].Size*axes[1].Size, dist.Options{}, func(ctx context.Context, c *dist.Comm) error {
			m, err := mesh.New(ctx, c, axes...)
			if err != nil {
				return err
			}
			compute := tenon.Must(m.Plan(mesh.On[rowName]("data"), mesh.On[hiddenName]("model")))
			o := options()
			o.Ranks = &train.Ranks{Mesh: m, Compute: compute, Stored: tenon.Must(compute.With(mesh.On[inName]("data")))}
			got, err := train.Fit(ctx, model, loss, o)
			if err != nil {
				return err
			}
			for i, l := range want.Record.Losses {
				if math.Abs(got.Record.Losses[i]-l) > 1e-12 {
					return fmt.Errorf("loss %d is %v, want %v", i, got.Record.Losses[i], l)
				}
			}
			for _, x := range [][2]tensor.Tensor{{got.Params.Up, want.Params.Up}, {got.Params.Down, want.Params.Down}, {got.State.Slots[1][0], want.State.Slots[1][0]}} {
				if err := tensor.AllClose(x[0], x[1], tensor.CloseOptions{RTol: 1e-10, ATol: 1e-10}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Error(axes, err)
		}
	}
}
