package mesh_test

import (
	"context"
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/scale/mesh"
	"github.com/tenonml/tenon/tensor"
)

func Example() {
	// Three rows are divided between two ranks.
	x := named.Of([][]float32{{1, 2}, {3, 4}, {5, 6}}, Batch{}, Embed{})
	center := func(x *named.Tensor) *named.Tensor {
		return ops.Sub(x, named.Mean[Batch](x)).(*named.Tensor)
	}
	err := dist.Simulate(context.Background(), 2, dist.Options{}, func(ctx context.Context, c *dist.Comm) error {
		m, err := mesh.New(ctx, c, mesh.Axis{Name: "data", Size: 2})
		if err != nil {
			return err
		}
		plan, err := m.Plan(mesh.On[Batch]("data"))
		if err != nil {
			return err
		}
		part, err := mesh.Shard(plan, x)
		if err != nil {
			return err
		}
		y, err := mesh.Function(m, center).Call(ctx, part)
		if err != nil {
			return err
		}
		whole, err := y.Whole(ctx)
		if c.Rank() == 0 && err == nil {
			fmt.Println(part)
			fmt.Println(whole)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// float32[3@data, 2]
	// float32{Batch:3 Embed:2}
	// [[-2. -2.]
	//  [ 0.  0.]
	//  [ 2.  2.]]
	// <nil>
}

// What a program would do on eight hosts can be seen on one.
func ExampleFunc_Explain() {
	m := tenon.Must(mesh.Abstract(0, mesh.Axis{Name: "data", Size: 4}, mesh.Axis{Name: "model", Size: 2}))
	plan := tenon.Must(m.Plan(mesh.On[Batch]("data"), mesh.On[Hidden]("model")))
	type in struct{ X, Up, Down *named.Tensor }
	f := mesh.Function(m, func(a in) tensor.Tensor {
		return named.Dot[Hidden](ops.Relu(named.Dot[Embed](a.X, a.Up)), a.Down)
	})
	e, err := f.Explain(plan, in{
		named.Ones(dtype.Float32, Batch{}.Of(1000), Embed{}.Of(64)),
		named.Ones(dtype.Float32, Embed{}.Of(64), Hidden{}.Of(256)),
		named.Ones(dtype.Float32, Hidden{}.Of(256), Embed{}.Of(64)),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.Arguments)
	fmt.Println(e.Results)
	for _, c := range e.Collectives {
		fmt.Println(c.Kind, c.Axis, c.Bytes)
	}
	// Output:
	// [float32[1000@data, 64] float32[64, 256@model] float32[256@model, 64]]
	// [float32[1000@data, 64]]
	// all_reduce model 64000
}
