package dist_test

import (
	"context"
	"fmt"

	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/tensor"
)

// What one rank has goes to all, and what all have is added up: structures, with the Values in them.
func ExampleReduceValues() {
	type part struct{ Sum, Count tensor.Tensor }
	err := dist.Simulate(context.Background(), 2, dist.Options{}, func(ctx context.Context, c *dist.Comm) error {
		scale, err := dist.BroadcastValue(ctx, c, tensor.Scalar(float64(10*(c.Rank()+1))), 0)
		if err != nil {
			return err
		}
		x := part{ops.Mul(scale, float64(c.Rank()+1)), tensor.Scalar(1.0)}
		all, err := dist.ReduceValues(ctx, c, x, dist.Sum)
		if c.Rank() == 1 {
			fmt.Println(all.Sum, all.Count)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// 30.0 float64[] 2.0 float64[]
	// <nil>
}

// In a function that may be traced: each rank gets its part of the sum.
func ExampleReduceScatter() {
	err := dist.Simulate(context.Background(), 2, dist.Options{}, func(ctx context.Context, c *dist.Comm) error {
		f := function.New(func(x tensor.Tensor) tensor.Tensor { return dist.ReduceScatter(x, dist.Sum, 0, "all") })
		out, err := f.CallContext(dist.With(ctx, c, map[string]*dist.Comm{"all": c}), tensor.Of([]int64{1, 2, 3, 4}))
		if c.Rank() == 1 {
			fmt.Println(out)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [[6 8] int64[2]]
	// <nil>
}

// A Value for each replica, and what a function makes of each.
func ExampleEach() {
	p := dist.Replicas(tensor.Of([]float64{1, 2}), tensor.Of([]float64{3}))
	fmt.Println(dist.Each(p, func(x tensor.Tensor) tensor.Tensor { return ops.Sum(x) }))
	// Output:
	// [3.0 float64[] 3.0 float64[]]
}
