package outsider_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"example.com/outsider"
	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/scale/mesh"
	"github.com/tenonml/tenon/tensor"
)

// line is a model, and seen a batch of Values of types of this module.
type line struct{ Slope, Offset T }

type seen struct {
	Bags   outsider.Bags
	Spans  outsider.Interval
	Target T
}

func lineLoss(m line, b seen, _ tensor.Tensor) T {
	y := ops.Add(ops.Mul(ops.Sum(b.Bags, 1), m.Slope), ops.Add(m.Offset, ops.Sub(b.Spans.Hi, b.Spans.Lo)))
	return ops.Mean(ops.Square(ops.Sub(y, b.Target)))
}

// Values of types of this module train data parallel, with no line for it in the types: ranks get rows of
// them, and come to what one rank comes to.
func TestTypesTrainOnRanks(t *testing.T) {
	source := func(_ context.Context, at int) (seen, error) {
		return seen{
			bags("apples", []float64{1, float64(at)}, nil, []float64{2}, []float64{3, 1, 0.5}, []float64{0.25}),
			interval([]float64{0, 1, 2, 3, 4}, []float64{1, 2, 4, 4, 5}),
			vector(1, 2, 3, 4, float64(at)),
		}, nil
	}
	options := func() train.FitOptions[line, seen] {
		return train.FitOptions[line, seen]{Options: train.Options{Optimizer: train.Adam(0.1)}, Data: train.Source[seen]{Batches: 3, At: source}, Epochs: 2}
	}
	start := line{tensor.Scalar(0.5), tensor.Scalar(-0.25)}
	want, err := train.Fit(t.Context(), start, lineLoss, options())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{2, 3} {
		for _, byElements := range []bool{false, true} {
			err := dist.Simulate(t.Context(), n, dist.Options{}, func(ctx context.Context, c *dist.Comm) error {
				m, err := mesh.New(ctx, c, mesh.Axis{Name: "data", Size: n})
				if err != nil {
					return err
				}
				o := options()
				o.Ranks = &train.Ranks{Mesh: m, ByElements: byElements}
				got, err := train.Fit(ctx, start, lineLoss, o)
				if err != nil {
					return err
				}
				for i, l := range want.Record.Losses {
					if math.Abs(got.Record.Losses[i]-l) > 1e-12 {
						return fmt.Errorf("loss %d is %v, want %v", i, got.Record.Losses[i], l)
					}
				}
				return tensor.AllClose(got.Params.Slope, want.Params.Slope, tensor.CloseOptions{RTol: 1e-12, ATol: 1e-12})
			})
			if err != nil {
				t.Error(n, byElements, err)
			}
		}
	}
}
