package graph_test

import (
	"context"
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/profile"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// names returns what the nodes of a graph do.
func names(g *graph.Graph) []string {
	var out []string
	for _, n := range g.Nodes {
		out = append(out, n.Op.Name)
	}
	return out
}

// vector is the Spec of the parameter of these examples.
var vector = []*tensor.Spec{tensor.NewSpec(dtype.Float64, shape.Of(2))}

// A graph is what a function does to its parameters. A region, as loops have one, is traced inside of another trace and
// may use what is around it.
func ExampleTrace() {
	g, err := graph.Trace("twice", vector, func(p []tensor.Tensor) ([]tensor.Tensor, error) {
		r, err := graph.TraceRegion("body", vector, func(q []tensor.Tensor) ([]tensor.Tensor, error) {
			return []tensor.Tensor{ops.Mul(p[0], q[0])}, nil
		})
		if err != nil {
			return nil, err
		}
		fmt.Println(names(r), len(r.Captures))
		return []tensor.Tensor{ops.Add(p[0], p[0])}, nil
	})
	fmt.Println(names(g), err)
	// Output:
	// [mul] 1
	// [add] <nil>
}

// Every addition of a value to itself becomes a product.
func ExampleRebuild() {
	g := tenon.Must(graph.Trace("twice", vector, func(p []tensor.Tensor) ([]tensor.Tensor, error) {
		return []tensor.Tensor{ops.Add(p[0], p[0])}, nil
	}))
	g, err := graph.Rebuild(g, func(n *graph.Node, c *op.Call) ([]tensor.Tensor, error) {
		if n.Op.Name == "add" && c.Tensor(0) == c.Tensor(1) {
			return []tensor.Tensor{ops.Mul(c.Tensor(0), 2.0)}, nil
		}
		return nil, nil
	})
	fmt.Println(names(g), err)
	// Output:
	// [mul] <nil>
}

// A value that is needed again far behind is computed a second time.
func ExampleRematerialise() {
	g := tenon.Must(graph.Trace("far", vector, func(p []tensor.Tensor) ([]tensor.Tensor, error) {
		early := ops.Neg(p[0])
		x := ops.Exp(early)
		for range 3 {
			x = ops.Sin(x)
		}
		return []tensor.Tensor{ops.Mul(x, early)}, nil
	}))
	again, err := graph.Rematerialise(g, 3, func(n *graph.Node) bool { return n.Op.Name == "neg" })
	fmt.Println(names(g))
	fmt.Println(names(again), err)
	// Output:
	// [neg exp sin sin sin mul]
	// [neg exp sin sin sin neg mul] <nil>
}

// What only one branch needs moves into it: the exponential is not computed where the other is taken.
func ExampleSink() {
	g := tenon.Must(graph.Trace("branch", vector, func(p []tensor.Tensor) ([]tensor.Tensor, error) {
		e := ops.Exp(p[0])
		return []tensor.Tensor{control.Cond(ops.Greater(ops.Index(p[0], 0), 0.0), func() tensor.Tensor { return e }, func() tensor.Tensor { return p[0] })}, nil
	}))
	sunk, err := graph.Sink(g, func(n *graph.Node) (inputs, regions int, ok bool) {
		return 1, 2, n.Op.Name == "control.switch" // its arguments are the choice, the inputs and the branches
	})
	fmt.Println(names(g))
	fmt.Println(names(sunk), err)
	// Output:
	// [exp index greater logical_not cast control.switch]
	// [index greater logical_not cast control.switch] <nil>
}

// A context carries what runs are asked for, such as a profile.
func ExampleWithRunOptions() {
	p := &profile.Profile{}
	ctx := graph.WithRunOptions(context.Background(), graph.RunOptions{Profile: p})
	f := function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Sum(ops.Exp(x)) })
	_, err := f.CallContext(ctx, tensor.Of([]float64{0, 0}))
	fmt.Println(graph.RunOptionsOf(ctx).Profile == p, err)
	// Output:
	// true <nil>
}
