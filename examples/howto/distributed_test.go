package howto

import (
	"context"
	"fmt"

	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/scale/mesh"
	"github.com/tenonml/tenon/tensor"
)

func Example_distributedA() {
	err := dist.Simulate(context.Background(), 2, dist.Options{}, func(ctx context.Context, comm *dist.Comm) error {
		m, err := mesh.New(ctx, comm, mesh.Axis{Name: "data", Size: comm.Size()})
		if err != nil {
			return err
		}
		fit, err := train.Fit(ctx, newLine(), lineLoss, train.FitOptions[line, tensor.Tensor]{
			Options: train.Options{Optimizer: train.Adam(0.1), Ranks: &train.Ranks{Mesh: m}},
			Data:    train.Source[tensor.Tensor]{Batches: 20, At: lineData}, Epochs: 10,
		})
		if err == nil && comm.Rank() == 0 {
			fmt.Println(fit.Reason, ops.Round(ops.Mul(fit.Params.Slope, 10)))
		}
		return err
	})
	check(err)
	// Output:
	// finished 20.0 float64[]
}
