package ops_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

func filled(dims ...int) *tensor.Dense {
	n := 1
	for _, d := range dims {
		n *= d
	}
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(i%7) - 3
	}
	return tensor.Of(x, dims...).(*tensor.Dense)
}

// The projections and scores of attention over several heads need no copies: heads
// are a batch, whatever lies where.
func TestContractionPlans(t *testing.T) {
	const b, s, r, h, k = 0, 1, 2, 3, 4
	x, w, q := filled(2, 5, 8), filled(3, 8, 4), filled(2, 5, 3, 4)
	tests := []struct {
		name           string
		x, y           *tensor.Dense
		al, bl, out    []int
		want           ops.Product
		wantContiguous bool
	}{
		{"projection", x, w, []int{b, s, r}, []int{h, r, k}, []int{b, s, h, k}, ops.Product{Batch: 3, M: 10, N: 4, K: 8}, true},
		{"projection, heads outside", x, w, []int{b, s, r}, []int{h, r, k}, []int{b, h, s, k}, ops.Product{Batch: 6, M: 5, N: 4, K: 8}, true},
		{"scores", q, q, []int{b, s, h, k}, []int{b, 5, h, k}, []int{b, h, s, 5}, ops.Product{Batch: 6, M: 5, N: 5, K: 4}, true},
		{"batch innermost", q, q, []int{b, s, h, k}, []int{b, 5, h, k}, []int{s, 5, h, b}, ops.Product{Batch: 6, M: 5, N: 5, K: 4, Transposed: true}, false},
		{"sums that lie apart", q, q, []int{b, s, h, k}, []int{b, 5, h, k}, []int{h, s, 5}, ops.Product{Batch: 3, M: 5, N: 5, K: 8, CopiesA: true}, true},
		{"all at once", x, x, []int{b, s, r}, []int{b, s, r}, []int{}, ops.Product{Batch: 1, M: 1, N: 1, K: 80}, true},
		{"sums in another order", x, ops.Transpose(x, 0, 2, 1).(*tensor.Dense), []int{b, s, r}, []int{5, r, s}, []int{b, 5}, ops.Product{Batch: 1, M: 2, N: 2, K: 40}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := ops.NewContraction(tt.al, tt.bl, tt.out)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, c.Plan(tt.x.Shape().Dims(), tt.x.Strides(), tt.y.Shape().Dims(), tt.y.Strides())); d != "" {
				t.Error(d)
			}
			got := c.Of(tt.x, tt.y).(*tensor.Dense)
			if got.IsContiguous() != tt.wantContiguous {
				t.Errorf("contiguous: %v", got.IsContiguous())
			}
			want := ops.Einsum(equationOf(tt.al, tt.bl, tt.out), tt.x, tt.y)
			if !tensor.Equal(want, got, tensor.EqualOptions{}) { // small integers: exact in any order
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

// Of takes a short way for products of matrices.
func TestContractionOfMatrices(t *testing.T) {
	x, y := filled(4, 5), filled(5, 3)
	want := ops.MatMul(x, y)
	tests := []struct {
		a, b   *tensor.Dense
		al, bl []int
	}{
		{x, y, []int{0, 1}, []int{1, 2}},
		{turned(x), y, []int{1, 0}, []int{1, 2}},
		{x, turned(y), []int{0, 1}, []int{2, 1}},
		{turned(x), turned(y), []int{1, 0}, []int{2, 1}},
		{y, x, []int{1, 2}, []int{0, 1}},
		{turned(y), turned(x), []int{2, 1}, []int{1, 0}},
	}
	for _, tt := range tests {
		for _, out := range [][]int{{0, 2}, {2, 0}} {
			c, err := ops.NewContraction(tt.al, tt.bl, out)
			if err != nil {
				t.Fatal(err)
			}
			got := c.Of(tt.a, tt.b)
			if out[0] == 2 {
				got = ops.Transpose(got)
			}
			if !tensor.Equal(want, got, tensor.EqualOptions{}) {
				t.Errorf("%v, %v -> %v: got %v, want %v", tt.al, tt.bl, out, got, want)
			}
		}
	}
}

// turned returns a transposed copy.
func turned(x *tensor.Dense) *tensor.Dense {
	return tensor.Contiguous(ops.Transpose(x).(*tensor.Dense))
}

func equationOf(a, b, out []int) string {
	letters := func(ls []int) (s string) {
		for _, l := range ls {
			s += string(rune('a' + l))
		}
		return s
	}
	return fmt.Sprintf("%s,%s->%s", letters(a), letters(b), letters(out))
}

func TestContractionLabels(t *testing.T) {
	for _, tt := range [][3][]int{
		{{0, 0}, {0}, {}},
		{{0}, {1}, {1}},
		{{0}, {0}, {1}},
		{{0}, {0}, {0, 0}},
	} {
		if _, err := ops.NewContraction(tt[0], tt[1], tt[2]); err == nil {
			t.Errorf("%v are accepted", tt)
		}
	}
}

// A product whose operands broadcast in turns has more batch axes than a kernel takes.
func TestMatMulOfManyBatchAxes(t *testing.T) {
	a, b := filled(2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 3), filled(1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 3, 2)
	got := ops.MatMul(a, b)
	rows := ops.Reshape(a, []int{32, 2, 3})
	cols := ops.Reshape(b, []int{32, 3, 2})
	for i := range 32 {
		for j := range 32 {
			at := make([]any, 0, 10)
			for bit := 4; bit >= 0; bit-- {
				at = append(at, i>>bit&1, j>>bit&1)
			}
			want := ops.Sum(ops.Mul(ops.ExpandDims(ops.Index(rows, i), 2), ops.ExpandDims(ops.Index(cols, j), 0)), 1)
			if g := ops.Index(got, at...); !tensor.Equal(want, g, tensor.EqualOptions{}) {
				t.Fatalf("matrices %d and %d: got %v, want %v", i, j, g, want)
			}
		}
	}
}

// Operands whose values are repeated along several axes that are summed over have the same step, none, along
// all of them: it says nothing about the order of these axes.
func TestContractionOfRepeatedOperands(t *testing.T) {
	for _, shape := range [][]int{{3, 5, 4}, {2, 3, 5, 4}, {5, 1, 4}} {
		one := tensor.Scalar(2.0)
		repeated, full := ops.BroadcastTo(one, shape), filled(shape...)
		axes := make([]int, len(shape)-1)
		for i := range axes {
			axes[i] = i
		}
		for _, pair := range [][2]tensor.Tensor{{repeated, full}, {full, repeated}, {repeated, repeated}, {repeated, ops.Reverse(full, 0)}, {ops.Reverse(full, 0), repeated}} {
			got := ops.TensorDot(pair[0], pair[1], axes, axes)
			want := ops.TensorDot(ops.Add(pair[0], 0), ops.Add(pair[1], 0), axes, axes)
			if !tensor.Equal(got, want, tensor.EqualOptions{}) {
				t.Errorf("%v: got %v, want %v", shape, got, want)
			}
		}
	}
}
