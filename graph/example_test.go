package graph_test

import (
	"fmt"
	"strings"

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

func ExampleGraph_Outline() {
	f := function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Add(ops.Mul(x, 0.5), 2.0) }, function.Options{Name: "line"})
	g, err := f.Trace(tensor.Of([]float64{1, 2}))
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(g.Outline()) {
		what, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t") // a source line is behind the tab
		fmt.Println(what)
	}
	// Output:
	// graph line(
	//   %0: float64[2]) {
	//   %1 = const float64[] "AAAAAAAA4D8=" 0.5 float64[]
	//   %2 = mul(x: %0, y: %1) : float64[2]
	//   %3 = const float64[] "AAAAAAAAAEA=" 2.0 float64[]
	//   %4 = add(x: %2, y: %3) : float64[2]
	//   return %4
	// }
}
