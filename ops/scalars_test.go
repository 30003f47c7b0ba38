package ops_test

import (
	"errors"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Small arrays with scalars and Go numbers have a loop of their own, which gives what all
// other calls give.
func TestArraysWithScalars(t *testing.T) {
	x := tensor.Of([]float32{1, 2, 3, 4}, 2, 2)
	n := tensor.Vector([]int32{7, -7, 0})
	s := tensor.Scalar(float32(2))
	for _, c := range []struct {
		name      string
		got, want tensor.Tensor
	}{
		{"array and number", ops.Add(x, 1), tensor.Of([]float32{2, 3, 4, 5}, 2, 2)},
		{"number and array", ops.Sub(1, x), tensor.Of([]float32{0, -1, -2, -3}, 2, 2)},
		{"array and scalar", ops.Div(x, s), tensor.Of([]float32{0.5, 1, 1.5, 2}, 2, 2)},
		{"scalar and array", ops.Pow(s, x), tensor.Of([]float32{2, 4, 8, 16}, 2, 2)},
		{"two scalars", ops.Mul(s, s), tensor.Scalar(float32(4))},
		{"scalar and number", ops.Sub(0.5, s), tensor.Scalar(float32(-1.5))},
		{"a comparison with a number", ops.Less(2, x), tensor.Of([]bool{false, false, true, true}, 2, 2)},
		{"a choice by a scalar", ops.Where(tensor.Scalar(false), x, 9), tensor.Of([]float32{9, 9, 9, 9}, 2, 2)},
		{"a choice between numbers and an array", ops.Where(ops.Greater(x, 2), 0, x), tensor.Of([]float32{1, 2, 0, 0}, 2, 2)},
		{"an array of one element stretches", ops.Add(tensor.Of([]float32{1}, 1, 1), s), tensor.Of([]float32{3}, 1, 1)},
		{"of no elements", ops.Add(tensor.Of([]float32{}, 0, 2), 1), tensor.Of([]float32{}, 0, 2)},
		{"with gaps", ops.Add(ops.Transpose(x), 1), tensor.Of([]float32{2, 4, 3, 5}, 2, 2)},
		{"integers keep their type", ops.Mul(n, 2), tensor.Vector([]int32{14, -14, 0})},
		{"a number that does not fit is promoted", ops.Add(n, 0.5), tensor.Vector([]float64{7.5, -6.5, 0.5})},
		{"truth values", ops.LogicalOr(tensor.Vector([]bool{true, false}), false), tensor.Vector([]bool{true, false})},
		{"an array of another type", ops.Add(tensor.Vector([]float64{1, 2}), s), tensor.Vector([]float64{3, 4})},
	} {
		if !tensor.Equal(c.got, c.want) || c.got.DType() != c.want.DType() {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	if _, err := tenon.Try(func() tensor.Tensor { return ops.FloorDiv(n, 0) }); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("a division of integers by zero gives %v", err)
	}
	if _, err := tenon.Try(func() tensor.Tensor { return ops.Add(x, nil) }); !errors.Is(err, tenon.ErrDType) {
		t.Errorf("nil gives %v", err)
	}
	if a, b := ops.MatMul(x, x), ops.MatMulT(x, x, true, false); !tensor.Equal(a, tensor.Of([]float32{7, 10, 15, 22}, 2, 2)) || !tensor.Equal(b, tensor.Of([]float32{10, 14, 14, 20}, 2, 2)) {
		t.Errorf("products of matrices are %v and %v", a, b)
	}
	if got := ops.Sum(ops.Cast(x, dtype.Float64), 0); !tensor.Equal(got, tensor.Vector([]float64{4, 6})) {
		t.Errorf("sums of columns are %v", got)
	}
}
