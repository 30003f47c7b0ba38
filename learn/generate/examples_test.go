package generate_test

import (
	"context"
	"fmt"

	"github.com/tenonml/tenon/learn/generate"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// After 0, a 1 is likelier than a 2, but what follows a 2 is certain: as a whole, 2 3 is better.
func ExampleBeam() {
	after := ops.Log(tensor.Of([]float64{
		0, 0.6, 0.4, 0,
		0.25, 0.25, 0.25, 0.25,
		0, 0, 0, 1,
		1, 0, 0, 0,
	}, 4, 4))
	next := func(tokens *ragged.Tensor, _ tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
		return ops.Gather(after, generate.Last(tokens), 0), generate.Last(tokens)
	}
	b, err := generate.Beam(context.Background(), ragged.FromSlices([][]int64{{0}}), next, generate.BeamOptions{Tokens: 2, Width: 2})
	fmt.Println(b.Tokens, err)
	// Output:
	// [[[2 3] [1 0]]] int64[1, ~, ~] <nil>
}
