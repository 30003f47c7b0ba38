package function_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/profile"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

func ones(dims ...int) tensor.Tensor { return ops.Ones(dtype.Float32, dims) }

func TestProfile(t *testing.T) {
	f := function.New(func(x tensor.Tensor) tensor.Tensor {
		y := ops.MatMul(x, x)
		return ops.Sum(control.While(func(y tensor.Tensor) tensor.Tensor { return ops.Less(ops.Sum(y), 1e6) },
			func(y tensor.Tensor) tensor.Tensor { return ops.MatMul(y, x) }, y))
	})
	var p profile.Profile
	var steps []int
	ctx := function.WithOptions(t.Context(), function.RunOptions{Profile: &p, Progress: func(done, total int) { steps = append(steps, done, total) }})
	if _, err := f.CallContext(ctx, ones(10, 10)); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, e := range p.Events() {
		count[e.Op]++
		if e.Duration < 0 || e.Bytes < 0 || !strings.HasPrefix(e.Line, "function/options_test.go:") {
			t.Errorf("%+v", e)
		}
	}
	// 10x10 ones: sums 1000, 10^4, 10^5, 10^6 after 0, 1, 2, 3 turns.
	if count["matmul"] != 4 || count["control.while"] != 1 || count["less"] != 4 {
		t.Errorf("%v", count)
	}
	if p.Peak() < 400 || p.Peak() > 2000 {
		t.Errorf("the peak is %d bytes", p.Peak())
	}
	if len(steps) != 2*3+2 || steps[len(steps)-1] != 3 || steps[len(steps)-2] != 3 {
		t.Errorf("progress %v", steps)
	}
	var trace struct{ TraceEvents []map[string]any }
	var b bytes.Buffer
	if err := p.WriteTrace(&b); err != nil || json.Unmarshal(b.Bytes(), &trace) != nil || len(trace.TraceEvents) != 2*len(p.Events()) {
		t.Errorf("%v, %s", err, b.String())
	}
}

func TestMemoryLimit(t *testing.T) {
	f := function.New(func(x tensor.Tensor) tensor.Tensor {
		y := ops.Exp(x)
		return ops.Sum(ops.MatMul(y, ops.Transpose(y)))
	})
	for _, c := range []struct {
		limit int64
		fits  bool
	}{{1 << 20, true}, {100, false}} {
		_, err := f.CallContext(function.WithOptions(t.Context(), function.RunOptions{MemoryLimit: c.limit}), ones(10, 20))
		if (err == nil) != c.fits || err != nil && !strings.Contains(err.Error(), "the limit is 100") {
			t.Errorf("limit %d: %v", c.limit, err)
		}
	}
	open := function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Exp(ops.BooleanMask(x, ops.Greater(x, 0), 0)) })
	if _, err := open.CallContext(function.WithOptions(t.Context(), function.RunOptions{MemoryLimit: 500}), ones(1000)); err == nil {
		t.Error("a result of unknown size exceeds the limit and no error says so")
	}
}

func TestCheckNumerics(t *testing.T) {
	f := function.New(func(x tensor.Tensor) tensor.Tensor {
		y := ops.Sub(x, 1)
		return ops.Sum(ops.Mul(ops.Log(y), 2))
	})
	ctx := function.WithOptions(t.Context(), function.RunOptions{CheckNumerics: true})
	if _, err := f.CallContext(ctx, tensor.Of([]float32{2, 3, 4})); err != nil {
		t.Error(err)
	}
	_, err := f.CallContext(ctx, tensor.Of([]float32{2, 0.5, 4}))
	var e *tenon.Error
	if !errors.As(err, &e) || e.Op != "ops.Log" || !strings.Contains(e.Msg, "a NaN at [1]") || !strings.HasPrefix(e.Line, "function/options_test.go:") {
		t.Errorf("got %v", err)
	}
	// What comes in is not the fault of an operation.
	if _, err := f.CallContext(ctx, ops.Div(tensor.Of([]float32{1, 2}), 0)); err != nil {
		t.Error(err)
	}
}

func TestCancelledInLoop(t *testing.T) {
	f := function.New(func(x tensor.Tensor) tensor.Tensor {
		return control.While(func(x tensor.Tensor) tensor.Tensor { return ops.GreaterEqual(x, 0) }, func(x tensor.Tensor) tensor.Tensor {
			return ops.Mul(x, 1)
		}, x)
	})
	ctx, cancel := context.WithCancel(t.Context())
	started := make(chan struct{})
	done := make(chan error)
	go func() {
		close(started)
		_, err := f.CallContext(ctx, tensor.Scalar(float32(1)))
		done <- err
	}()
	<-started
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestArgumentsOfOtherTypes gives functions what they do not take, where the compiler does not
// look.
func TestArgumentsOfOtherTypes(t *testing.T) {
	f := function.New(func(x tensor.Tensor, n int) tensor.Tensor { return ops.Mul(x, float64(n)) })
	out, err := f.CallContext(t.Context(), []float64{1, 2}, 3)
	if err != nil || !tensor.Equal(out[0].(tensor.Tensor), tensor.Of([]float64{3, 6})) {
		t.Errorf("got %v, %v", out, err)
	}
	if x, err := f.Export([]float64{1, 2}, 3); err != nil || tenon.String(x.Args[0].Spec) != "float64[2]" {
		t.Errorf("got %v, %v", x, err)
	}
	rows := ragged.FromSlices([][]float64{{1}, {}})
	g := function.New(func(x *ragged.Tensor) *ragged.Tensor { return x })
	for name, call := range map[string]func() error{
		"a text for a number":           func() error { _, err := f.CallContext(t.Context(), 1.0, "3"); return err },
		"a channel for a tensor":        func() error { _, err := f.Export(make(chan int), 3); return err },
		"a tensor for rows":             func() error { _, err := g.Concrete(tensor.Of([]float64{1})); return err },
		"the Spec of a tensor for rows": func() error { _, err := g.Export(tensor.Scalar(1.0).Spec()); return err },
		"one argument too few":          func() error { _, err := f.Export(1.0); return err },
		"the Spec of rows for a number": func() error { _, err := f.Export(1.0, rows.Spec()); return err },
	} {
		var e *tenon.Error
		if err := call(); !errors.As(err, &e) || e.Kind != tenon.ErrDType && e.Kind != tenon.ErrInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
