package ops_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// What functions compute by a short way is what the operation computes by the long one.
func TestShortWaysOfNumbers(t *testing.T) {
	numbers := func(d dtype.DType, dims ...int) tensor.Tensor {
		x := make([]float64, shape.Of(dims...).Size())
		for i := range x {
			x[i] = float64((i*7+3)%11) - 4
		}
		return ops.Cast(tensor.Of(x, dims...), d)
	}
	same := func(what string, got tensor.Tensor, name string, args ...any) {
		t.Helper()
		o, ok := op.Lookup(name)
		if !ok {
			t.Fatal(name)
		}
		out, err := op.Do(o, args...)
		if err != nil {
			t.Fatal(what, err)
		}
		want := out[0].(*tensor.Dense)
		g := got.(*tensor.Dense)
		if g.DType() != want.DType() || !g.Shape().Equal(want.Shape()) || !slices.Equal(tensor.Contiguous(g).Bytes(), tensor.Contiguous(want).Bytes()) {
			t.Errorf("%s: %v, want %v", what, g, want)
		}
	}
	reductions := map[string][2]func(any, ...int) tensor.Tensor{
		"reduce_sum": {ops.Sum, ops.SumKeep}, "reduce_mean": {ops.Mean, ops.MeanKeep}, "reduce_prod": {ops.Prod, ops.ProdKeep},
		"reduce_max": {ops.Max, ops.MaxKeep}, "reduce_min": {ops.Min, ops.MinKeep}, "count_nonzero": {ops.CountNonzero, ops.CountNonzeroKeep},
	}
	for _, d := range []dtype.DType{dtype.Float32, dtype.Float64, dtype.Int32, dtype.BFloat16} {
		x, y := numbers(d, 2, 3, 4), numbers(d, 3, 4)
		for name, f := range reductions {
			for axis := -3; axis < 3; axis++ {
				same(fmt.Sprint(name, d, axis), f[0](x, axis), name, x, axis, false)
				same(fmt.Sprint(name, d, axis, " kept"), f[1](x, axis), name, x, axis, true)
			}
			same(fmt.Sprint(name, d, " all"), f[0](x), name, x, nil, false)
			same(fmt.Sprint(name, d, " all kept"), f[1](x), name, x, nil, true)
		}
		for _, c := range []any{2, 2.0, 0.5, float32(3)} {
			if d == dtype.Int32 && c == 0.5 {
				continue
			}
			same(fmt.Sprint("add ", d, c), ops.Add(x, c), "add", x, c)
			same(fmt.Sprint("sub from ", d, c), ops.Sub(c, x), "sub", c, x)
			same(fmt.Sprint("less ", d, c), ops.Less(x, c), "less", x, c)
		}
		same("row", ops.Mul(x, y), "mul", x, y)
		for flags := range 4 {
			ta, tb := flags&1 == 1, flags&2 == 2
			a, b := numbers(d, 3, 4), numbers(d, 4, 2)
			if ta {
				a = numbers(d, 4, 3)
			}
			if tb {
				b = numbers(d, 2, 4)
			}
			same(fmt.Sprint("matmul ", d, flags), ops.MatMulT(a, b, ta, tb), "matmul", a, b, ta, tb)
		}
		c := ops.Greater(y, 0)
		same("where", ops.Where(c, x, y), "where", c, x, y)
		for _, to := range []dtype.DType{dtype.Bool, dtype.Int8, dtype.Float16, dtype.Complex64} {
			same(fmt.Sprint("cast ", d, to), ops.Cast(x, to), "cast", x, to)
		}
		same("softmax", ops.Softmax(x, 2), "softmax", x, 2)
		same("softmax of a middle axis", ops.Softmax(x, 1), "softmax", x, 1)
	}
	// A view goes the long way.
	v := ops.Transpose(numbers(dtype.Float32, 3, 4))
	same("view", ops.Sum(v, 0), "reduce_sum", v, 0, false)
	same("view", ops.MatMul(v, ops.Transpose(v)), "matmul", v, ops.Transpose(v))
}

// A Go constant takes the element type of the tensor beside it where that can hold it, and
// is promoted otherwise.
func TestConstants(t *testing.T) {
	for _, c := range []struct {
		x    tensor.Tensor
		y    any
		want dtype.DType
	}{
		{tensor.Of([]float32{1}), 2.5, dtype.Float32},
		{tensor.Of([]float32{1}), 2, dtype.Float32},
		{tensor.Of([]int32{1}), 2, dtype.Int32},
		{tensor.Of([]int32{1}), 2.5, dtype.Float64},
		{tensor.Of([]int8{1}), 300, dtype.Int64},
		{tensor.Of([]uint8{1}), 3, dtype.Uint8},
		{tensor.Of([]dtype.BF16{1}), 2.5, dtype.BFloat16},
	} {
		for _, got := range []tensor.Tensor{ops.Add(c.x, c.y), ops.Add(c.y, c.x)} {
			if got.DType() != c.want {
				t.Errorf("%s with the constant %v gives %v, want %v", tenon.String(c.x.Spec()), c.y, got.DType(), c.want)
			}
		}
	}
}
