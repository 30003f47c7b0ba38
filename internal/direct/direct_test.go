package direct_test

import (
	"errors"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/direct"
	"github.com/tenonml/tenon/op"
	_ "github.com/tenonml/tenon/ops" // operations to call
	"github.com/tenonml/tenon/tensor"
)

func lookup(t *testing.T, name string) *op.Op {
	o, ok := op.Lookup(name)
	if !ok {
		t.Fatalf("there is no operation %s", name)
	}
	return o
}

// TestRun: the short way gives what the general way gives, or leaves the call to it.
func TestRun(t *testing.T) {
	x := tensor.Of([]float32{3, 1, 2})
	d := tensor.Of([]float64{3, 1, 2})
	tests := []struct {
		name string
		args []any
		runs bool
	}{
		{"argsort", []any{x, 0, false}, true},
		{"argsort", []any{x}, true},
		{"argsort", []any{x, int8(0), false}, false},       // an attribute of another type
		{"argsort", []any{[]float32{3, 1, 2}, 0}, false},   // no tensor yet
		{"clip", []any{x, 1, 2.5}, true},                   // constants behind a tensor
		{"clip", []any{x, nil, tensor.Scalar(2.5)}, false}, // of another type
		{"lerp", []any{x, d, 0.5}, false},                  // to be promoted
		{"stack", []any{[]tensor.Tensor{x, x}, 0}, true},   // a list
		{"stack", []any{[]tensor.Tensor{x, d}, 0}, false},  // of two types
		{"reduce_sum", []any{tensor.Scalar("a"), []int(nil), false}, false},
	}
	for _, tt := range tests {
		o := lookup(t, tt.name)
		out := direct.Run(o, tt.args)
		if (out != nil) != tt.runs {
			t.Errorf("%s%v runs: %v", tt.name, tt.args, out != nil)
		}
		want, err := op.Do(o, tt.args...)
		if out == nil {
			continue
		}
		if err != nil || len(want) != len(out) {
			t.Errorf("%s%v: %v, %v", tt.name, tt.args, out, err)
			continue
		}
		for i := range out {
			if !tensor.Equal(out[i], want[i], tensor.EqualOptions{}) {
				t.Errorf("%s%v: result %d is %v, want %v", tt.name, tt.args, i, out[i], want[i])
			}
		}
	}
}

// TestErrors: what is wrong is said by the general way.
func TestErrors(t *testing.T) {
	_, err := tenon.Try(func() tensor.Tensor {
		return direct.Eval(lookup(t, "gather"), tensor.Of([]float32{1}), tensor.Of([]int64{4}), 0, 0)
	})
	if e := tenon.AsError(err); err == nil || e.Op != "ops.Gather" {
		t.Errorf("got %v", err)
	}
	_, err = tenon.Try(func() tensor.Tensor { return direct.Eval(lookup(t, "argsort"), tensor.Of([]complex64{1}), 0, false) })
	if !errors.Is(err, tenon.ErrDType) {
		t.Errorf("got %v", err)
	}
}

// TestApply: attributes stay, arguments that are not there too.
func TestApply(t *testing.T) {
	c, err := op.NewCall(lookup(t, "clip"), tensor.Of([]float32{1}), nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	y := direct.Apply(c, []tenon.Value{tensor.Of([]float32{1, 2, 3}), tensor.Scalar(float32(2))})
	if !tensor.Equal(y, tensor.Of([]float32{1, 2, 2}), tensor.EqualOptions{}) {
		t.Errorf("got %v", y)
	}
	c, err = op.NewCall(lookup(t, "cast"), tensor.Of([]float32{1}), dtype.Int32)
	if err != nil {
		t.Fatal(err)
	}
	if y := direct.Apply(c, []tenon.Value{tensor.Of([]float64{1.5, 2})}); !tensor.Equal(y, tensor.Of([]int32{1, 2}), tensor.EqualOptions{}) {
		t.Errorf("got %v", y)
	}
	if _, err := tenon.Try(func() tensor.Tensor { return direct.Apply(c, nil) }); err == nil {
		t.Error("a call without its argument runs")
	}
}
