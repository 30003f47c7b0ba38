package graph_test

import (
	"fmt"

	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

func ExampleGraph() {
	f := function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Sum(ops.Mul(x, x)) }, function.Options{})
	g, err := f.Trace(tensor.Of([]float32{1, 2}))
	if err != nil {
		panic(err)
	}
	for _, n := range g.Nodes {
		fmt.Println(n.Op.Name, n.Outs[0].Spec())
	}
	// Output:
	// mul float32[2]
	// reduce_sum float32[]
}
