package function_test

import (
	"testing"

	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/profile"
	"github.com/tenonml/tenon/tensor"
)

// TestRematerialise: the same gradient with less memory.
func TestRematerialise(t *testing.T) {
	type T = tensor.Tensor
	type params struct{ X, W T }
	net := func(p params) T {
		x := p.X
		for range 6 {
			x = ops.Gelu(ops.Add(ops.MatMul(ops.Tanh(x), p.W), 0.1))
		}
		return ops.Sum(x)
	}
	in := params{ops.Mul(ones(64, 32), 0.3), ops.Mul(ones(32, 32), 0.04)}
	var peaks [2]int64
	var results [2]params
	for i, again := range []bool{false, true} {
		f := function.New(grad.Of(net), function.Options{Rematerialise: again})
		var p profile.Profile
		out, err := f.CallContext(function.WithOptions(t.Context(), function.RunOptions{Profile: &p}), in)
		if err != nil {
			t.Fatal(err)
		}
		peaks[i], results[i] = p.Peak(), out[0].(params)
	}
	if peaks[1] >= peaks[0]*9/10 {
		t.Errorf("the peak is %d bytes, without %d", peaks[1], peaks[0])
	}
	for i, w := range tensor.Data[float32](results[0].W) {
		if g := tensor.Data[float32](results[1].W)[i]; g != w {
			t.Fatalf("element %d of the gradient is %g, without %g", i, g, w)
		}
	}
}
