package passes_test

import (
	"math"
	"strings"
	"testing"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/interp"
	"github.com/tenonml/tenon/internal/passes"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// waves makes a tensor of smooth numbers.
func waves(phase float64, dims ...int) tensor.Tensor {
	x := make([]float32, shape.Of(dims...).Size())
	for i := range x {
		x[i] = float32(math.Sin(phase + 0.7*float64(i) + 0.001*float64(i*i)))
	}
	return tensor.Of(x, dims...)
}

// near32 compares tensors of float32.
func near32(t *testing.T, what string, got, want []tensor.Tensor, tol float64) {
	t.Helper()
	for i := range want {
		x, y := tensor.Data[float32](tensor.Contiguous(got[i].(*tensor.Dense))), tensor.Data[float32](tensor.Contiguous(want[i].(*tensor.Dense)))
		if !got[i].Shape().Equal(want[i].Shape()) {
			t.Fatalf("%s: result %d has the shape %v, want %v", what, i, got[i].Shape(), want[i].Shape())
		}
		for k := range y {
			if d := math.Abs(float64(x[k] - y[k])); !(d <= tol*(1+math.Abs(float64(y[k])))) {
				t.Fatalf("%s: element %d of result %d is %v, want %v", what, k, i, x[k], y[k])
			}
		}
	}
}

func TestAttention(t *testing.T) {
	// queries [b,n,h,d], keys [b,m,h,d], values [b,m,h,e]
	const b, n, m, h, d, e = 2, 9, 11, 3, 4, 5
	heads := []tensor.Tensor{waves(1, b, n, h, d), waves(2, b, m, h, d), waves(3, b, m, h, e)}
	matrices := []tensor.Tensor{waves(1, b, n, d), waves(2, b, m, d), waves(3, b, m, e)}
	contract := func(x []tensor.Tensor) tensor.Tensor {
		p := ops.Softmax(ops.Contract(x[1], x[0], []int{7, 1, 3, 2}, []int{7, 0, 3, 2}, []int{7, 3, 0, 1}), -1)
		return ops.Contract(p, x[2], []int{4, 5, 6, 8}, []int{4, 8, 5, 9}, []int{6, 4, 5, 9})
	}
	einsum := func(x []tensor.Tensor) tensor.Tensor {
		p := ops.Softmax(ops.Einsum("bnhd,bmhd->bmnh", x[0], x[1]), 1)
		return ops.Einsum("bjkl,bjlo->blok", p, x[2])
	}
	matmul := func(x []tensor.Tensor) tensor.Tensor {
		return ops.MatMul(ops.Softmax(ops.MatMulT(x[0], x[1], false, true), -1), x[2])
	}
	gradient := func(f func(x []tensor.Tensor) tensor.Tensor) func(x []tensor.Tensor) []tensor.Tensor {
		return grad.Of(func(x []tensor.Tensor) tensor.Tensor { return ops.Sum(ops.Square(f(x))) })
	}
	one := func(f func(x []tensor.Tensor) tensor.Tensor) func(x []tensor.Tensor) []tensor.Tensor {
		return func(x []tensor.Tensor) []tensor.Tensor { return []tensor.Tensor{f(x)} }
	}
	for _, tt := range []struct {
		name  string
		f     func(x []tensor.Tensor) []tensor.Tensor
		in    []tensor.Tensor
		joint bool
	}{
		{"contractions", one(contract), heads, true},
		{"contractions, gradient", gradient(contract), heads, true},
		{"einsum", one(einsum), heads, true},
		{"einsum, gradient", gradient(einsum), heads, true},
		{"matrices", one(matmul), matrices, true},
		{"matrices, gradient", gradient(matmul), matrices, true},
		{"somebody looks at the weights", func(x []tensor.Tensor) []tensor.Tensor {
			p := ops.Softmax(ops.MatMulT(x[0], x[1], false, true), -1)
			return []tensor.Tensor{ops.MatMul(p, x[2]), p}
		}, matrices, false},
		{"a softmax over the queries", func(x []tensor.Tensor) []tensor.Tensor {
			return []tensor.Tensor{ops.MatMul(ops.Softmax(ops.MatMulT(x[0], x[1], false, true), -2), x[2])}
		}, matrices, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var specs []*tensor.Spec
			for _, x := range tt.in {
				specs = append(specs, tensor.NewSpec(dtype.Float32, x.Shape()))
			}
			g, err := graph.Trace("f", specs, func(x []tensor.Tensor) ([]tensor.Tensor, error) { return tt.f(x), nil })
			if err != nil {
				t.Fatal(err)
			}
			h, err := passes.Apply(g, passes.Default)
			if err != nil {
				t.Fatal(err)
			}
			if joint := !strings.Contains(h.String(), "softmax"); joint != tt.joint {
				t.Errorf("joined: %v, want %v:\n%v", joint, tt.joint, h)
			}
			got, err := interp.For(h).Run(t.Context(), tt.in)
			if err != nil {
				t.Fatal(err)
			}
			near32(t, "joined", got, tt.f(tt.in), 1e-4)
		})
	}
}

// The joined operations have gradients of both orders, and batches.
func TestAttentionDerivatives(t *testing.T) {
	const b, n, m, d, e = 2, 3, 4, 2, 3
	in := []tensor.Tensor{waves(1, b, n, d), waves(2, m, b, d), waves(3, b, m, e)}
	labels := ops.AttentionLabels{Query: []int{4, 0, 2}, Key: []int{1, 4, 2}, Value: []int{4, 1, 3}, Result: []int{0, 4, 3}}
	joined := func(x []tensor.Tensor) tensor.Tensor {
		return ops.Attend(x[0], x[1], x[2], labels, ops.AttentionOptions{Scale: 0.7})
	}
	composed := func(x []tensor.Tensor) tensor.Tensor {
		p := ops.Softmax(ops.Contract(ops.Mul(x[0], 0.7), x[1], []int{0, 1, 2}, []int{3, 0, 2}, []int{0, 1, 3}), -1)
		return ops.Contract(p, x[2], []int{0, 1, 3}, []int{0, 3, 4}, []int{1, 0, 4})
	}
	loss := func(f func(x []tensor.Tensor) tensor.Tensor) func(x []tensor.Tensor) tensor.Tensor {
		return func(x []tensor.Tensor) tensor.Tensor { return ops.Sum(ops.Mul(ops.Square(f(x)), waves(4, n, b, e))) }
	}
	near32(t, "value", []tensor.Tensor{joined(in)}, []tensor.Tensor{composed(in)}, 1e-5)
	first := func(f func(x []tensor.Tensor) tensor.Tensor) func(x []tensor.Tensor) []tensor.Tensor {
		return grad.Of(loss(f))
	}
	near32(t, "gradient", first(joined)(in), first(composed)(in), 1e-4)
	second := func(f func(x []tensor.Tensor) tensor.Tensor) []tensor.Tensor {
		return grad.Of(func(x []tensor.Tensor) tensor.Tensor {
			g := first(f)(x)
			return ops.Add(ops.Sum(ops.Mul(g[0], waves(5, b, n, d))), ops.Add(ops.Sum(ops.Mul(g[1], waves(6, m, b, d))), ops.Sum(ops.Square(g[2]))))
		})(in)
	}
	near32(t, "second derivative", second(joined), second(composed), 1e-3)
}

// Contractions that attention's operands come from get one name, whatever they were written as.
func TestProjectionsOfAttention(t *testing.T) {
	const b, s, r, h, k = 2, 9, 4, 3, 5
	in := []tensor.Tensor{waves(1, b, s, r), waves(2, h, r, k), waves(3, h, r, k), waves(4, h, r, k)}
	f := func(x []tensor.Tensor) tensor.Tensor {
		q := ops.Mul(0.5, ops.Einsum("bsr,hrk->bhsk", x[0], x[1]))
		keys, v := ops.Einsum("btr,hrk->bhtk", x[0], x[2]), ops.Einsum("btr,hrv->bhtv", x[0], x[3])
		return ops.Einsum("bhst,bhtv->bhsv", ops.Softmax(ops.Einsum("bhsk,bhtk->bhst", q, keys), -1), v)
	}
	var specs []*tensor.Spec
	for _, x := range in {
		specs = append(specs, tensor.NewSpec(dtype.Float32, x.Shape()))
	}
	g, err := graph.Trace("f", specs, func(x []tensor.Tensor) ([]tensor.Tensor, error) { return []tensor.Tensor{f(x)}, nil })
	if err != nil {
		t.Fatal(err)
	}
	if g, err = passes.Apply(g, passes.Default); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range g.Nodes {
		names = append(names, n.Op.Name)
	}
	if got, want := strings.Join(names, " "), "contract contract contract attention"; got != want {
		t.Errorf("nodes %q, want %q", got, want)
	}
	got, err := interp.For(g).Run(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	near32(t, "joined", got, []tensor.Tensor{f(in)}, 1e-5)
}
