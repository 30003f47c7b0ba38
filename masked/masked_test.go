package masked_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

type T = tensor.Tensor

func m(values []float64, mask []bool, dims ...int) T {
	if dims == nil {
		dims = []int{len(values)}
	}
	t, err := masked.New(tensor.Of(values, dims...), tensor.Of(mask, dims[:rankOf(mask, dims)]...))
	if err != nil {
		panic(err)
	}
	return t
}

func rankOf(mask []bool, dims []int) int {
	n := 1
	for i, d := range dims {
		if n *= d; n == len(mask) {
			return i + 1
		}
	}
	return len(dims)
}

// show returns the elements, nil for missing ones.
func show(t T) []any {
	x, ok := t.(*masked.Tensor)
	var mask []bool
	if ok {
		mask = tensor.Data[bool](x.Full())
		t = x.Values()
	}
	var out []any
	add := func(i int, v any) {
		if mask != nil && !mask[i] {
			v = nil
		}
		out = append(out, v)
	}
	switch t.DType().String() {
	case "float64":
		for i, v := range tensor.Data[float64](t) {
			add(i, v)
		}
	case "int64":
		for i, v := range tensor.Data[int64](t) {
			add(i, v)
		}
	case "bool":
		for i, v := range tensor.Data[bool](t) {
			add(i, v)
		}
	}
	return out
}

var (
	x = m([]float64{1, 2, 3, 4, 5, 6}, []bool{true, false, true, false, false, false}, 2, 3)
	r = m([]float64{1, 2, 3, 4, 5, 6}, []bool{true, false}, 2, 3) // the second row is missing
)

func TestOperations(t *testing.T) {
	row := tensor.Of([]float64{10, 20, 30})
	nan := math.NaN()
	for _, tt := range []struct {
		name string
		f    func() T
		want []any
	}{
		{"neg", func() T { return ops.Neg(x) }, []any{-1.0, nil, -3.0, nil, nil, nil}},
		{"add a row", func() T { return ops.Add(x, row) }, []any{11.0, nil, 33.0, nil, nil, nil}},
		{"add a constant", func() T { return ops.Add(x, 1.0) }, []any{2.0, nil, 4.0, nil, nil, nil}},
		{"add both masked", func() T { return ops.Add(x, m([]float64{1, 1, 1}, []bool{false, true, true})) }, []any{nil, nil, 4.0, nil, nil, nil}},
		{"add rows missing", func() T { return ops.Add(r, r) }, []any{2.0, 4.0, 6.0, nil, nil, nil}},
		{"add rows and elements", func() T { return ops.Add(r, x) }, []any{2.0, nil, 6.0, nil, nil, nil}},
		{"less", func() T { return ops.Less(x, 2.0) }, []any{true, nil, false, nil, nil, nil}},
		{"sum", func() T { return ops.Sum(x, -1) }, []any{4.0, 0.0}},
		{"sum of rows", func() T { return ops.Sum(r, -1) }, []any{6.0, nil}},
		{"sum over rows", func() T { return ops.Sum(r, 0) }, []any{1.0, 2.0, 3.0}},
		{"max", func() T { return ops.Max(x, -1) }, []any{3.0, nil}},
		{"argmin", func() T { return ops.ArgMin(x, -1) }, []any{int64(0), nil}},
		{"mean", func() T { return ops.Mean(x, -1) }, []any{2.0, nan}},
		{"variance", func() T { return ops.Variance(x, -1) }, []any{1.0, nan}},
		{"mean of all", func() T { return ops.Mean(x) }, []any{2.0}},
		{"cumsum", func() T { return ops.CumSum(x, -1, ops.CumOptions{}) }, []any{1.0, nil, 4.0, nil, nil, nil}},
		{"matmul", func() T { return ops.MatMul(x, tensor.Of([]float64{1, 1, 1}, 3, 1)) }, []any{4.0, 0.0}},
		{"transpose", func() T { return ops.Transpose(x, 1, 0) }, []any{1.0, nil, nil, nil, 3.0, nil}},
		{"reshape", func() T { return ops.Reshape(x, []int{6}) }, []any{1.0, nil, 3.0, nil, nil, nil}},
		{"concat", func() T { return ops.Concat([]T{x}, 0) }, []any{1.0, nil, 3.0, nil, nil, nil}},
		{"concat with plain", func() T { return ops.Concat([]any{x, ops.Reshape(row, []int{1, 3})}, 0) }, []any{1.0, nil, 3.0, nil, nil, nil, 10.0, 20.0, 30.0}},
		{"gather", func() T { return ops.Gather(x, []int64{2, 1}, 1) }, []any{3.0, nil, nil, nil}},
		{"sort", func() T { return ops.Sort(x, -1, ops.SortOptions{Descending: true}) }, []any{3.0, 1.0, nil, nil, nil, nil}},
		{"where", func() T { return ops.Where(ops.Greater(x, 2.0), x, 0.0) }, []any{0.0, nil, 3.0, nil, nil, nil}},
		{"fill", func() T { return masked.Fill(x, 9.0) }, []any{1.0, 9.0, 3.0, 9.0, 9.0, 9.0}},
		{"compress", func() T { return masked.Compress(x) }, []any{1.0, 3.0}},
		{"compress rows", func() T { return masked.Compress(r) }, []any{1.0, 2.0, 3.0}},
		{"is missing", func() T { return masked.IsMissing(x) }, []any{false, true, false, true, true, true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tenon.Try(tt.f)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, show(got), cmpopts.EquateNaNs(), cmpopts.EquateApprox(1e-12, 0)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestThreeValuedLogic(t *testing.T) {
	mk := func(v, k []bool) T {
		t, err := masked.New(v, k)
		if err != nil {
			panic(err)
		}
		return t
	}
	a := mk([]bool{true, true, true, false, false, false, false, false, false}, []bool{true, true, true, true, true, true, false, false, false})
	b := mk([]bool{true, false, false, true, false, false, true, false, false}, []bool{true, true, false, true, true, false, true, true, false})
	if d := cmp.Diff([]any{true, false, nil, false, false, false, nil, false, nil}, show(masked.And(a, b))); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]any{true, true, true, true, false, nil, true, nil, nil}, show(masked.Or(a, b))); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]any{false, false, false, true, true, true, nil, nil, nil}, show(masked.Not(a))); d != "" {
		t.Error(d)
	}
}

func TestTracedAndDifferentiated(t *testing.T) {
	loss := func(x T) T { return ops.Sum(ops.Mul(x, x)) }
	f := function.New(loss)
	if got := tensor.Item[float64](f.Call(x)); got != 10 {
		t.Errorf("traced sum of squares = %v, want 10", got)
	}
	g := grad.Of(loss)(x).(*masked.Tensor)
	if d := cmp.Diff([]float64{2, 0, 6, 0, 0, 0}, tensor.Data[float64](g.Values())); d != "" {
		t.Error(d)
	}
}

func Example() {
	t, _ := masked.New([]float64{1, 2, 3}, []bool{true, false, true})
	fmt.Println(ops.Sum(t), masked.Compress(ops.Mul(t, 10.0)))
	// Output: 4.0 float64[] [10. 30.] float64[2]
}
