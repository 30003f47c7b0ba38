package passes_test

import (
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/passes"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

func sines(dims ...int) tensor.Tensor {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return ops.Reshape(ops.Sin(ops.Cast(ops.Range(0, n, 1), dtype.Float32)), dims)
}

func TestSumsLeaveScans(t *testing.T) {
	x, y := sines(3, 2, 4), sines(3, 2, 5)
	type rows struct{ X, Y tensor.Tensor }
	type sums struct{ H, Sum, Other tensor.Tensor }
	f := func(p []tensor.Tensor) ([]tensor.Tensor, error) {
		return tenon.Try(func() []tensor.Tensor {
			start := sums{ops.Zeros(x.DType(), []int{2, 4}), ops.Ones(x.DType(), []int{4, 5}), ops.Zeros(x.DType(), []int{4, 4})}
			end, ys := control.Scan(func(c sums, r rows) (sums, tensor.Tensor) {
				h := ops.Tanh(ops.Add(c.H, r.X))
				return sums{
					h,
					ops.Add(c.Sum, ops.MatMulT(h, r.Y, true, false)),               // gathers, and nobody looks at it on the way
					ops.Mul(ops.Add(c.Other, ops.MatMulT(h, h, true, false)), 0.5), // is more than a sum
				}, ops.MatMul(h, c.Other)
			}, start, rows{p[0], p[1]}, control.ScanOptions{Reverse: true})
			return []tensor.Tensor{end.H, end.Sum, end.Other, ys}
		})
	}
	before := tenon.Must(graph.Trace("f", []*tensor.Spec{x.Spec().(*tensor.Spec), y.Spec().(*tensor.Spec)}, f))
	after := tenon.Must(passes.Sums(before))
	if text := after.String(); strings.Count(text, "matmul(") != strings.Count(before.String(), "matmul(")-1 || strings.Count(text, "contract(") != 1 {
		t.Errorf("one product leaves the scan:\n%s", text)
	}
	want, got := tenon.Must(before.Inline([]tensor.Tensor{x, y})), tenon.Must(after.Inline([]tensor.Tensor{x, y}))
	for i := range want {
		if err := tensor.AllClose(got[i], want[i]); err != nil {
			t.Errorf("result %d: %v", i, err)
		}
	}
	// What is read on the way stays where it is, and so does a sum that is smaller than the operands.
	read := func(p []tensor.Tensor) ([]tensor.Tensor, error) {
		return tenon.Try(func() []tensor.Tensor {
			end, ys := control.Scan(func(c sums, r rows) (sums, tensor.Tensor) {
				return sums{c.H, ops.Add(c.Sum, ops.MatMulT(r.X, r.Y, true, false)), ops.Add(c.Other, ops.MatMulT(r.Y, r.Y, false, true))}, ops.Sum(c.Sum)
			}, sums{ops.Zeros(x.DType(), []int{2, 4}), ops.Ones(x.DType(), []int{4, 5}), ops.Zeros(x.DType(), []int{2, 2})}, rows{p[0], p[1]})
			return []tensor.Tensor{end.Sum, end.Other, ys}
		})
	}
	before = tenon.Must(graph.Trace("read", []*tensor.Spec{x.Spec().(*tensor.Spec), y.Spec().(*tensor.Spec)}, read))
	if after := tenon.Must(passes.Sums(before)); after.String() != before.String() {
		t.Errorf("nothing leaves the scan:\n%s", after)
	}
}
