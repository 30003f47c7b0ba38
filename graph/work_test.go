package graph_test

import (
	"testing"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// The arithmetic of contractions is what one reckons from their shapes.
func TestFLOPs(t *testing.T) {
	ones := func(dims ...int) tensor.Tensor { return ops.Ones(dtype.Float32, dims) }
	attend := func(q, k, v tensor.Tensor) tensor.Tensor { return ops.Attention(q, k, v, ops.AttentionOptions{}) }
	for name, c := range map[string]struct {
		f    any
		args []any
		want float64
	}{
		"matrices":  {func(a, b tensor.Tensor) tensor.Tensor { return ops.MatMul(a, b) }, []any{ones(3, 4, 5), ones(5, 7)}, 2 * 3 * 4 * 5 * 7},
		"sums":      {func(a, b tensor.Tensor) tensor.Tensor { return ops.Add(a, b) }, []any{ones(3), ones(3)}, 0},
		"attention": {attend, []any{ones(2, 4, 5), ones(2, 6, 5), ones(2, 6, 7)}, 2 * 2 * 4 * 6 * (5 + 7)},
		"shared":    {attend, []any{ones(2, 3, 4, 5), ones(6, 5), ones(6, 7)}, 2 * 2 * 3 * 4 * 6 * (5 + 7)},
		"labels": {func(q, k, v tensor.Tensor) tensor.Tensor {
			return ops.Attend(q, k, v, ops.AttentionLabels{Query: []int{4, 0, 5, 2}, Key: []int{4, 1, 2}, Value: []int{4, 1, 3}, Result: []int{4, 0, 5, 3}}, ops.AttentionOptions{})
		}, []any{ones(2, 4, 3, 5), ones(2, 6, 5), ones(2, 6, 7)}, 2 * 2 * 3 * 4 * 6 * (5 + 7)},
		"gradient": {func(q, k, v tensor.Tensor) tensor.Tensor {
			return grad.Of(func(q tensor.Tensor) tensor.Tensor { return ops.Sum(attend(q, k, v)) })(q)
		}, []any{ones(2, 4, 5), ones(2, 6, 5), ones(2, 6, 7)}, 2 * 2 * 4 * 6 * (3*5 + 2*7)},
	} {
		g, err := function.New(c.f).Trace(c.args...)
		if err != nil {
			t.Fatal(name, err)
		}
		got := 0.0
		for _, n := range g.Nodes {
			got += n.FLOPs()
		}
		if got != c.want {
			t.Errorf("%s: %v, want %v\n%v", name, got, c.want, g)
		}
	}
}
