package ragged_test

import (
	"math"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// flat returns the elements of a dense or ragged tensor.
func flat(t T) T {
	if r, ok := t.(*ragged.Tensor); ok {
		t = r.FlatValues()
	}
	return ops.Reshape(t, []int{-1})
}

// TestGradients compares with central differences of Σ i·f(x)ᵢ².
func TestGradients(t *testing.T) {
	type R = *ragged.Tensor
	splits := []int{0, 2, 2, 5}
	of := func(x T) R { return tenon.Must(ragged.FromRowSplits(x, splits)) }
	deep := func(x T) R { return tenon.Must(ragged.FromRowSplits(of(x), []int{0, 2, 3})) }
	column := tensor.Of([]float64{2, 3, 5}, 3, 1)
	for name, f := range map[string]func(x T) T{
		"elementwise": func(x T) T { return ops.Mul(of(x), ops.Sin(of(x))) },
		"rows":        func(x T) T { return ops.Mul(of(x), column) },
		"column": func(x T) T {
			return ops.Mul(rag([]float64{1, 2}, nil, []float64{3}), ops.Reshape(ops.Index(x, key.To(3)), []int{3, 1}))
		},
		"equal partitions": func(x T) T { return ops.Mul(of(x), tenon.Must(ragged.FromRowLengths(ops.Cos(x), []int{2, 0, 3}))) },
		"row":              func(x T) T { return ops.Index(of(x), -1) },
		"range":            func(x T) T { return ops.Index(of(x), key.Range(nil, nil, -1)) },
		"in rows":          func(x T) T { return ops.Index(of(x), key.All, key.From(1)) },
		"numbers":          func(x T) T { return ops.Index(of(x), tensor.Of([]int64{2, 0, 2})) },
		"numbers in rows":  func(x T) T { return ops.Index(of(x), rag([]int64{1, 1}, nil, []int64{-1})) },
		"mask in rows":     func(x T) T { return ops.Index(of(x), rag([]bool{true, false}, nil, []bool{true, false, true})) },
		"deep range":       func(x T) T { return ops.Index(deep(x), key.All, key.Range(nil, nil, -1)) },
		"to dense":         func(x T) T { return tenon.Must(of(x).ToDense(ragged.DenseOptions{})) },
		"to dense, default": func(x T) T {
			return tenon.Must(deep(x).ToDense(ragged.DenseOptions{Default: ops.Index(x, 0), Shape: []int{3, 2, 2}}))
		},
		"from dense": func(x T) T {
			return tenon.Must(ragged.FromDense(ops.Reshape(x, []int{1, 5}), ragged.FromDenseOptions{Lengths: []int{3}}))
		},
		"sparse values": func(x T) T { _, v, _, err := of(x).ToSparse(); tenon.Throw(err); return v },
		"pick":          func(x T) T { return tenon.Must(ragged.Pick(of(x), 1, ragged.PickOptions{Fill: ops.Index(x, 0)})) },
		"broadcast to": func(x T) T {
			return tenon.Must(ragged.BroadcastTo(ops.Reshape(ops.Index(x, key.To(3)), []int{3, 1}), ragged.ShapeOf(of(x))))
		},
		"offsets": func(x T) T { return tenon.Must(ragged.FromOffsets(x, []int{1, 2, 4})) },
	} {
		t.Run(name, func(t *testing.T) {
			loss := func(x T) T {
				y := flat(f(x))
				i := ops.Add(ops.Cast(ops.Range(0, y.Shape().Dim(0), 1), y.DType()), 1.0)
				return ops.Sum(ops.Mul(i, ops.Mul(y, y)))
			}
			at := []float64{0.3, -1.2, 0.7, 2.1, -0.4}
			got := tensor.Data[float64](tenon.Must(tenon.Try(func() T { return grad.Of(loss)(tensor.Of(at)) })))
			for k := range at {
				near := func(h float64) float64 {
					x := append([]float64(nil), at...)
					x[k] += h
					return tensor.Item[float64](loss(tensor.Of(x)))
				}
				const h = 1e-6
				if want := (near(h) - near(-h)) / (2 * h); math.Abs(want-got[k]) > 1e-6*(1+math.Abs(want)) {
					t.Errorf("∂/∂x[%d] is %v, want %v", k, got[k], want)
				}
			}
		})
	}
}
