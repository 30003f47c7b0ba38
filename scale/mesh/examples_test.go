package mesh_test

import (
	"context"
	"fmt"

	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/scale/mesh"
	"github.com/tenonml/tenon/tensor"
)

// Parameters that are whole and a batch that is divided are one argument; each rank adds up its rows by itself, and the
// sums of all are added.
func ExampleJoin() {
	type step struct{ W, X *named.Tensor }
	err := dist.Simulate(context.Background(), 2, dist.Options{}, func(ctx context.Context, c *dist.Comm) error {
		m, err := mesh.New(ctx, c, mesh.Axis{Name: "data", Size: 2})
		if err != nil {
			return err
		}
		plan, err := m.Plan(mesh.On[Batch]("data"))
		if err != nil {
			return err
		}
		w, err := mesh.Shard(plan, named.Of([]float64{1, 10}, Embed{}))
		if err != nil {
			return err
		}
		x, err := mesh.Shard(plan, named.Of([][]float64{{1, 2}, {3, 4}}, Batch{}, Embed{}))
		if err != nil {
			return err
		}
		f := mesh.Function(m, func(s step) *named.Tensor { return named.Sum[Batch](ops.Mul(s.W, s.X)) })
		y, err := f.Call(ctx, mesh.Join(w, x, func(w, x *named.Tensor) step { return step{w, x} }))
		if err != nil {
			return err
		}
		whole, err := y.Whole(ctx)
		if c.Rank() == 0 {
			fmt.Println(whole)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// float64{Embed:2} [ 4. 60.]
	// <nil>
}

// In a program, a function runs on each rank by itself, with the rows that the rank has; the results are added.
func ExamplePerRank() {
	err := dist.Simulate(context.Background(), 2, dist.Options{}, func(ctx context.Context, c *dist.Comm) error {
		m, err := mesh.New(ctx, c, mesh.Axis{Name: "data", Size: 2})
		if err != nil {
			return err
		}
		plan, err := m.Plan()
		if err != nil {
			return err
		}
		w, err := mesh.Shard[tensor.Tensor](plan, tensor.Scalar(2.0))
		if err != nil {
			return err
		}
		mine := float64(c.Rank() + 1) // of this rank
		f := mesh.Function(m, func(w tensor.Tensor) tensor.Tensor {
			return mesh.PerRank("data", func(w tensor.Tensor) tensor.Tensor { return ops.Mul(w, mine) }, w)
		})
		y, err := f.Call(ctx, w)
		if err != nil {
			return err
		}
		whole, err := y.Whole(ctx)
		if c.Rank() == 0 {
			fmt.Println(whole)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// 6.0 float64[]
	// <nil>
}

// A part of a function is a program: what goes in are the parts of this rank, which stand for wholes inside.
func ExampleInside() {
	err := dist.Simulate(context.Background(), 2, dist.Options{}, func(ctx context.Context, c *dist.Comm) error {
		m, err := mesh.New(ctx, c, mesh.Axis{Name: "data", Size: 2})
		if err != nil {
			return err
		}
		plan, err := m.Plan(mesh.On[Batch]("data"))
		if err != nil {
			return err
		}
		x := named.Of([][]float64{{1, 2}, {3, 4}}, Batch{}, Embed{})
		layout, err := plan.Layout(x)
		if err != nil {
			return err
		}
		part, err := mesh.Local(layout, x)
		if err != nil {
			return err
		}
		var divided mesh.Layout
		f := function.New(func(part *named.Tensor) *named.Tensor {
			part, divided = mesh.Inside(layout, func(x *named.Tensor) *named.Tensor { return ops.Sub(x, named.Mean[Batch](x)).(*named.Tensor) }, part)
			return part
		})
		ctx, err = m.With(ctx)
		if err != nil {
			return err
		}
		out, err := f.CallContext(ctx, part)
		if err != nil {
			return err
		}
		whole, err := mesh.Whole(ctx, divided, out[0].(*named.Tensor))
		if c.Rank() == 0 {
			fmt.Println(whole)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// float64{Batch:2 Embed:2}
	// [[-1. -1.]
	//  [ 1.  1.]]
	// <nil>
}
