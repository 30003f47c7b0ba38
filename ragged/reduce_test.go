package ragged_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// TestRootsOfNothing: rows of zeros and rows without spread have norms and deviations with
// gradient 0, as dense ones have.
func TestRootsOfNothing(t *testing.T) {
	x := rag([]float64{2}, nil, []float64{0, 0}, []float64{3, 4})
	for _, c := range []struct {
		name string
		f    func(x T) T
		want string
	}{
		{"std", func(x T) T { return ops.Std(x, 1) }, "[[0.] [] [0. 0.] [-0.5 0.5]] float64[4, ~]"},
		{"std across rows", func(x T) T { return ops.Std(x, 0) }, "[[0.089] [] [-0.445 -0.5] [0.356 0.5]] float64[4, ~]"},
		{"norm 2", func(x T) T { return ops.Norm(x, 2, 1) }, "[[1.] [] [0. 0.] [0.6 0.8]] float64[4, ~]"},
		{"norm 4", func(x T) T { return ops.Mul(ops.Norm(x, 4, 1), 0.0) }, "[[0.] [] [0. 0.] [0. 0.]] float64[4, ~]"},
		{"norm 1", func(x T) T { return ops.Norm(x, 1, 1) }, "[[1.] [] [0. 0.] [1. 1.]] float64[4, ~]"},
		{"greatest norm", func(x T) T { return ops.Norm(x, math.Inf(1), 1) }, "[[1.] [] [0. 0.] [0. 1.]] float64[4, ~]"},
	} {
		g := grad.Of(func(x T) T { return ops.Sum(c.f(x)) })(x)
		if got := fmt.Sprint(ops.Div(ops.Round(ops.Mul(g, 1000.0)), 1000.0)); got != c.want {
			t.Errorf("gradient of %s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// TestTypesOfReductions: what rows are reduced to has the type and the accuracy that dense
// axes are reduced to.
func TestTypesOfReductions(t *testing.T) {
	ints := rag([]int32{2, -3}, nil, []int32{math.MinInt32})
	for _, c := range []struct {
		got  T
		want string
	}{
		{ops.Norm(ints, 1, 1), "[5.00000000e+00 0.00000000e+00 2.14748365e+09] float64[3]"},
		{ops.Norm(ints, 2, 1), "[3.60555128e+00 0.00000000e+00 2.14748365e+09] float64[3]"},
		{ops.Norm(ints, math.Inf(1), 1), "[3.00000000e+00 0.00000000e+00 2.14748365e+09] float64[3]"},
		{ops.Mean(tenon.Must(ragged.FromRowSplits([]complex64{1 + 2i, 3, 4i}, []int{0, 2, 2, 3})), 0), "[0.5+3.i 3. +0.i] complex64[2]"},
		{ops.Mean(tenon.Must(ragged.FromRowSplits([]complex64{1 + 2i, 3, 4i}, []int{0, 2, 3})), 1), "[2.+1.i 0.+4.i] complex64[2]"},
	} {
		if got := fmt.Sprintf("%v", c.got); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
	for _, ord := range []float64{0, -1, math.NaN()} {
		if _, err := tenon.Try(func() T { return ops.Norm(ints, ord, 1) }); !errors.Is(err, tenon.ErrInvalid) {
			t.Errorf("norm of order %v: got %v, want ErrInvalid", ord, err)
		}
	}
	// More elements than the type has numbers for.
	const n = 70000
	for _, d := range []dtype.DType{dtype.Float16, dtype.BFloat16} {
		x := tenon.Must(ragged.FromNestedRowSplits(ops.Ones(d, []int{n}), []int{0, 2}, []int{0, n - 4, n})).(*ragged.Tensor)
		for _, c := range []struct {
			name string
			f    func(x any, axes ...int) T
			want float64
		}{{"mean", ops.Mean, 1}, {"variance", ops.Variance, 0}, {"std", ops.Std, 0}, {"logsumexp", ops.LogSumExp, 1 + math.Log(n)},
			{"norm", func(x any, axes ...int) T { return ops.Norm(x, 2, axes...) }, math.Sqrt(n)}} {
			y := c.f(x, 1, 2)
			got := tensor.Data[float64](ops.Cast(y, dtype.Float64))
			if y.DType() != d || len(got) != 1 || math.Abs(got[0]-c.want) > 0.005*c.want {
				t.Errorf("%s of many %v: got %v, want %v", c.name, d, y, c.want)
			}
		}
	}
}

// TestSegmentsOfNothing: without ids there are no segments, and their number is not negative.
func TestSegmentsOfNothing(t *testing.T) {
	empty := tenon.Must(ragged.FromUniformRowLength([]float64{}, int32(0), int32(0)))
	for _, ids := range []any{[]int64{}, []int32{}, []uint8{}} {
		if got := fmt.Sprint(ops.SegmentSum(empty, ids, nil)); got != "[] float64[0, 0]" {
			t.Errorf("of %T: got %s", ids, got)
		}
	}
	x := rag([]float64{1, 2}, nil, []float64{3})
	if got := fmt.Sprint(ops.SegmentSum(x, []int64{1, 0, 1}, nil)); got != "[[] [4. 2.]] float64[2, ~]" {
		t.Errorf("got %s", got)
	}
	for _, data := range []T{empty, x} {
		ids := make([]int64, data.Shape().Dim(0))
		if _, err := tenon.Try(func() T { return ops.SegmentMax(data, ids, -2) }); !errors.Is(err, tenon.ErrInvalid) || !strings.Contains(err.Error(), "num_segments is -2, want at least 0") {
			t.Errorf("-2 segments: got the error %v", err)
		}
	}
}
