package sparse_test

import (
	"math"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/sparse"
	"github.com/tenonml/tenon/tensor"
)

// TestGradients compares with central differences of Σ i·f(x)ᵢ² for five values x,
// in plain execution and in a traced function.
func TestGradients(t *testing.T) {
	type S = *sparse.Tensor
	must := func(x S, err error) S { return tenon.Must(x, err) }
	coordinates := tensor.Of([]int64{2, 2, 0, 1, 1, 0, 1, 3, 2, 0}, 5, 2) // not in order
	of := func(x T) S { return must(sparse.New(coordinates, x, []int64{3, 4})) }
	double := func(x T) S { // values 0 and 1 are at one place
		return must(sparse.New(tensor.Of([]int64{1, 1, 1, 1, 0, 2, 2, 0, 0, 0}, 5, 2), x, []int64{3, 4}))
	}
	other := must(sparse.New(tensor.Of([]int64{0, 1, 1, 1, 2, 2}, 3, 2), []float64{1.5, -2, .5}, []int64{3, 4}))
	grid := ops.Reshape(ops.Range(0.5, 12.5, 1.0), []int{3, 4})
	for name, f := range map[string]func(x T) T{
		"add":              func(x T) T { return must(sparse.Add(of(x), other, sparse.AddOptions{})) },
		"clip":             func(x T) T { return ops.Clip(of(x), -1.0, 1.0) },
		"add to itself":    func(x T) T { return ops.Add(of(x), double(x)) },
		"sub":              func(x T) T { return ops.Sub(other, of(x)) },
		"maximum":          func(x T) T { return ops.Maximum(of(x), other) },
		"mul sparse":       func(x T) T { return ops.Mul(of(x), other) },
		"mul itself":       func(x T) T { return ops.Mul(of(x), of(x)) },
		"mul dense":        func(x T) T { return ops.Mul(of(x), grid) },
		"mul dense of x":   func(x T) T { return ops.Mul(other, ops.Outer(ops.Index(x, key.To(3)), ops.Index(x, key.To(4)))) },
		"div":              func(x T) T { return ops.Div(of(x), ops.Add(ops.Square(ops.Index(x, key.To(4))), 1.0)) },
		"sin":              func(x T) T { return ops.Sin(double(x)) },
		"square":           func(x T) T { return ops.Square(double(x)) },
		"to dense":         func(x T) T { return tenon.Must(double(x).ToDense(sparse.DenseOptions{})) },
		"to dense default": func(x T) T { return tenon.Must(of(x).ToDense(sparse.DenseOptions{Default: 3.0})) },
		"from dense":       func(x T) T { return must(sparse.FromDense(x)) },
		"reorder":          func(x T) T { return must(of(x).Reorder()) },
		"coalesce":         func(x T) T { return must(double(x).Coalesce()) },
		"sum":              func(x T) T { return tenon.Must(of(x).ReduceSum(sparse.ReduceOptions{Axes: []int{1}})) },
		"sum, sparse":      func(x T) T { return tenon.Must(of(x).ReduceSum(sparse.ReduceOptions{Axes: []int{0}, Sparse: true})) },
		"max":              func(x T) T { return tenon.Must(of(x).ReduceMax(sparse.ReduceOptions{Axes: []int{1}})) },
		"max with zeros":   func(x T) T { return ops.Max(of(x), 1) },
		"mean":             func(x T) T { return ops.Mean(double(x), 0) },
		"softmax":          func(x T) T { return must(of(x).Softmax()) },
		"transpose":        func(x T) T { return ops.Transpose(of(x)) },
		"reshape":          func(x T) T { return ops.Reshape(of(x), []int{2, 6}) },
		"expand":           func(x T) T { return ops.ExpandDims(of(x), 1) },
		"slice":            func(x T) T { return must(of(x).Slice([]int{1, 0}, []int{2, 3})) },
		"split":            func(x T) T { return tenon.Must(of(x).Split(2, 1))[1] },
		"concat":           func(x T) T { return must(sparse.Concat([]S{of(x), other, double(x)}, 1, sparse.ConcatOptions{})) },
		"stack":            func(x T) T { return ops.Stack([]T{of(x), double(x)}, 0) },
		"retain":           func(x T) T { return must(of(x).Retain([]bool{true, false, true, true, false})) },
		"mask":             func(x T) T { return must(of(x).Mask([]int64{1})) },
		"fill":             func(x T) T { r, _, err := of(x).FillEmptyRows(1.0); return must(r, err) },
		"gather":           func(x T) T { return ops.Gather(of(x), []int64{2, 0, 2}, 0) },
		"index":            func(x T) T { return ops.Index(of(x), 2, key.Range(nil, nil, -1)) },
		"broadcast": func(x T) T {
			return ops.Mul(must(sparse.New(tensor.Of([]int64{0, 0, 2, 0}, 2, 2), ops.Index(x, key.To(2)), []int64{3, 1})), other)
		},
		"map":            func(x T) T { return must(sparse.MapValues(func(v ...T) T { return ops.Exp(v[0]) }, of(x))) },
		"matmul":         func(x T) T { return ops.MatMul(of(x), ops.Outer(ops.Index(x, key.To(4)), []float64{1, 2})) },
		"matmul adjoint": func(x T) T { return tenon.Must(sparse.MatMul(of(x), grid, sparse.MatMulOptions{AdjointA: true})) },
		"dense matmul":   func(x T) T { return ops.MatMul(ops.Outer([]float64{1, 2}, ops.Index(x, key.To(3))), of(x)) },
		"sparse matmul":  func(x T) T { return tenon.Must(sparse.MatMul(of(x), double(x), sparse.MatMulOptions{AdjointB: true})) },
		"matvec":         func(x T) T { return ops.MatVec(of(x), ops.Index(x, key.To(4))) },
		"sampled": func(x T) T {
			return must(of(x).SampledAddMM(ops.Outer(ops.Index(x, key.To(3)), []float64{1, 2}), ops.Outer([]float64{3, 4}, ops.Index(x, key.To(4))), 2.0, 3.0))
		},
		"segment mean": func(x T) T { return tenon.Must(sparse.SegmentMean(x, []int64{4, 2, 2}, []int64{0, 0, 1}, 3)) },
		"bincount weights": func(x T) T {
			n := must(sparse.New(coordinates, []int64{1, 4, 1, 0, 2}, []int64{3, 4}))
			return must(n.BinCount(sparse.CountOptions{Weights: of(x)}))
		},
		"ragged": func(x T) T { return tenon.Must(of(x).ToRagged()).FlatValues() },
		"csr": func(x T) T {
			return ops.MatMul(tenon.Must(sparse.ToCSR(of(x))), ops.Outer(ops.Index(x, key.To(4)), []float64{1, 2}))
		},
		"csc":     func(x T) T { return ops.MatVec(tenon.Must(sparse.ToCSC(of(x))), ops.Index(x, key.To(4))) },
		"csr sum": func(x T) T { return ops.Sum(ops.Square(tenon.Must(sparse.ToCSR(of(x)))), 0) },
	} {
		t.Run(name, func(t *testing.T) {
			loss := func(x T) T {
				y := ops.Reshape(dense(f(x)), []int{-1})
				n := ops.Cast(ops.Size(y), y.DType())
				return ops.Sum(ops.Mul(ops.Range(1.0, ops.Add(n, 1.0), 1.0), ops.Mul(y, y)))
			}
			at := []float64{0.3, -1.2, 0.7, 2.1, -0.4}
			got := tensor.Data[float64](tenon.Must(tenon.Try(func() T { return grad.Of(loss)(tensor.Of(at)) })))
			traced, err := function.New(func(x T) (T, error) { return grad.Of(loss)(x), nil }).Call(tensor.Of(at))
			if err != nil {
				t.Fatal(err)
			}
			for k := range at {
				near := func(h float64) float64 {
					x := append([]float64(nil), at...)
					x[k] += h
					return tensor.Item[float64](loss(tensor.Of(x)))
				}
				const h = 1e-6
				want := (near(h) - near(-h)) / (2 * h)
				for _, g := range []float64{got[k], tensor.Data[float64](traced)[k]} {
					if math.Abs(want-g) > 1e-6*(1+math.Abs(want)) {
						t.Errorf("∂/∂x[%d] is %v, want %v", k, g, want)
					}
				}
			}
		})
	}
}

// A sparse tensor is an argument of what is differentiated like any other value.
func TestGradientOfATensor(t *testing.T) {
	s := matrixA()
	g := grad.Of(func(s *sparse.Tensor) T { return ops.Sum(ops.Square(s)) })(s)
	if got := show(g); got != "[[0 1] [1 0] [1 3] [2 2]] [2 -4 6 8] in [3 4]" {
		t.Errorf("got %s", got)
	}
}
