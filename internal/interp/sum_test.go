package interp

import (
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// A product adds to a matrix or a row if nothing else reads it, and the addition has no company of elementwise nodes.
func TestProductsAddToSums(t *testing.T) {
	x, w := wave(0, 5, 7), wave(1, 7, 6)
	wide := tensor.Of(make([]float32, 5), 5, 1)
	for _, c := range []struct {
		name  string
		to    tensor.Tensor
		f     func(p, to tensor.Tensor) []tensor.Tensor
		steps string
	}{
		{"a matrix", wave(2, 5, 6), func(p, to tensor.Tensor) []tensor.Tensor { return []tensor.Tensor{ops.Add(p, to)} }, "matmul+add"},
		{"a matrix comes first", wave(2, 5, 6), func(p, to tensor.Tensor) []tensor.Tensor { return []tensor.Tensor{ops.Add(to, p)} }, "matmul+add"},
		{"a row", wave(2, 6), func(p, to tensor.Tensor) []tensor.Tensor { return []tensor.Tensor{ops.Add(p, to)} }, "matmul+add"},
		{"a transposed matrix", ops.Transpose(wave(2, 6, 5), 1, 0), func(p, to tensor.Tensor) []tensor.Tensor { return []tensor.Tensor{ops.Add(p, to)} }, "matmul+add"},
		{"a column", wide, func(p, to tensor.Tensor) []tensor.Tensor { return []tensor.Tensor{ops.Add(p, to)} }, "matmul+add"},
		{"itself", wave(2, 5, 6), func(p, to tensor.Tensor) []tensor.Tensor { return []tensor.Tensor{ops.Add(p, p)} }, "matmul add"},
		{"somebody looks", wave(2, 5, 6), func(p, to tensor.Tensor) []tensor.Tensor { return []tensor.Tensor{ops.Add(p, to), p} }, "matmul add"},
		{"company", wave(2, 5, 6), func(p, to tensor.Tensor) []tensor.Tensor { return []tensor.Tensor{ops.Tanh(ops.Add(p, to))} }, "matmul add+tanh"},
		{"larger than the product", wave(2, 3, 5, 6), func(p, to tensor.Tensor) []tensor.Tensor { return []tensor.Tensor{ops.Add(p, to)} }, "matmul add"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := func(p []tensor.Tensor) ([]tensor.Tensor, error) {
				return tenon.Try(func() []tensor.Tensor { return c.f(ops.MatMul(p[0], p[1]), p[2]) })
			}
			in := []tensor.Tensor{x, w, c.to}
			var specs []*tensor.Spec
			for _, v := range in {
				specs = append(specs, v.Spec().(*tensor.Spec))
			}
			p := For(tenon.Must(graph.Trace("f", specs, f)))
			if got := stepNames(p); got != c.steps {
				t.Errorf("steps %s, want %s", got, c.steps)
			}
			got, want := tenon.Must(p.Run(t.Context(), in)), tenon.Must(f(in))
			for i := range want {
				if !tensor.Equal(got[i], want[i]) {
					t.Errorf("result %d is %v, want %v", i, got[i], want[i])
				}
			}
		})
	}
}
