package backend_test

import (
	"fmt"

	"github.com/tenonml/tenon/backend"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// logged is a backend that tells what it is given, and leaves the work to Default.
type logged struct{ backend.Backend }

func (b logged) Name() string { return "logged" }

func (b logged) Compile(g *graph.Graph, o backend.Options) (backend.Program, error) {
	p, err := b.Backend.Compile(g, o)
	if err == nil {
		fmt.Printf("%d operations were recorded, %d are run\n", len(g.Nodes), len(p.Graph().Nodes))
	}
	return p, err
}

// A backend compiles the graph of a function when the function is first called with
// arguments of some type, and runs it from then on.
func Example() {
	f := function.New(func(x tensor.Tensor) tensor.Tensor {
		unused := ops.Exp(x)
		_ = unused
		return ops.Sum(ops.Add(ops.Mul(x, 1), 0.5))
	}, function.Options{Backend: logged{backend.Default}})

	fmt.Println(f.Call(tensor.Of([]float64{1, 2, 3})))
	fmt.Println(f.Call(tensor.Of([]float64{4, 5, 6})))
	// Output:
	// 4 operations were recorded, 2 are run
	// 7.5 float64[]
	// 16.5 float64[]
}
