package passes_test

import (
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/passes"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

func TestCapturesAreTurnedBeforeScans(t *testing.T) {
	x, w := sines(3, 2, 4), sines(5, 4)
	f := func(p []tensor.Tensor) ([]tensor.Tensor, error) {
		return tenon.Try(func() []tensor.Tensor {
			end, ys := control.Scan(func(h, x tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
				y := ops.MatMulT(ops.Add(h, x), p[1], false, true)
				return ops.Add(ops.MatMul(y, p[1]), ops.MatMulT(ops.MatMulT(x, x, false, true), ops.Exp(x), true, false)), y
			}, ops.Zeros(x.DType(), []int{2, 4}), p[0])
			return []tensor.Tensor{end, ys}
		})
	}
	before := tenon.Must(graph.Trace("f", []*tensor.Spec{x.Spec().(*tensor.Spec), w.Spec().(*tensor.Spec)}, f))
	after := tenon.Must(passes.TurnCaptures(before))
	if err := after.Verify(); err != nil {
		t.Fatal(err)
	}
	outside, inside, _ := strings.Cut(after.String(), "control.scan(")
	if strings.Count(outside, "transpose(x: %1") != 1 || strings.Contains(inside, "transpose(") || strings.Count(inside, "transpose_b: #true") != 1 {
		t.Errorf("one matrix is transposed before the scan:\n%s", after)
	}
	want, got := tenon.Must(before.Inline([]tensor.Tensor{x, w})), tenon.Must(after.Inline([]tensor.Tensor{x, w}))
	for i := range want {
		if err := tensor.AllClose(got[i], want[i]); err != nil {
			t.Errorf("result %d: %v", i, err)
		}
	}
}
