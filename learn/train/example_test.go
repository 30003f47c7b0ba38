package train_test

import (
	"context"
	"fmt"

	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

func ExampleFit() {
	type line struct{ Slope, Shift tensor.Tensor }
	type points struct{ X, Y tensor.Tensor }
	data := train.Source[points]{Batches: 1, At: func(context.Context, int) (points, error) {
		return points{tensor.Of([]float32{0, 1, 2, 3}), tensor.Of([]float32{1, 3, 5, 7})}, nil
	}}
	loss := func(l line, p points, _ tensor.Tensor) tensor.Tensor {
		off := ops.Sub(ops.Add(ops.Mul(l.Slope, p.X), l.Shift), p.Y)
		return ops.Mean(ops.Mul(off, off))
	}
	start := line{tensor.Scalar(float32(0)), tensor.Scalar(float32(0))}
	fit, err := train.Fit(context.Background(), start, loss, train.FitOptions[line, points]{
		Options: train.Options{Optimizer: train.SGD(0.1)}, Data: data, Epochs: 300,
	})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s: y = %.2f x + %.2f\n", fit.Reason, tensor.Item[float32](fit.Params.Slope), tensor.Item[float32](fit.Params.Shift))
	// Output: finished: y = 2.00 x + 1.00
}
