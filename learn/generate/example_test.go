package generate_test

import (
	"context"
	"fmt"

	"github.com/tenonml/tenon/learn/generate"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// A model that counts: after a token comes the next number.
func ExampleSample() {
	next := func(tokens *ragged.Tensor, seen tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
		after := ops.Add(generate.Last(tokens), 1)
		return ops.OneHot(after, 10, -1, ops.OneHotOptions{}), after
	}
	prompts := ragged.FromSlices([][]int64{{1, 2, 3}, {7}})
	g, err := generate.Sample(context.Background(), prompts, next, generate.Options{Tokens: 4, End: []int64{9}})
	if err != nil {
		panic(err)
	}
	fmt.Println(ragged.Slices[int64](g.Tokens))
	// Output: [[4 5 6 7] [8]] <nil>
}
