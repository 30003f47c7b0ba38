package function_test

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/profile"
	"github.com/tenonml/tenon/tensor"
)

// A training step holds at most 1.3 times the memory that its results need when each is there
// from the step that computes it to the last one that reads it.
func TestPeakMemory(t *testing.T) {
	type layer struct{ W, B T }
	step := func(layers []layer, x T) []layer {
		_, g := grad.ValueAndGrad(func(layers []layer, x T) T {
			for _, l := range layers {
				x = ops.Gelu(ops.Add(ops.MatMul(x, l.W), l.B))
			}
			return ops.Mean(ops.Square(ops.Sub(ops.LogSoftmax(x, -1), 1)))
		})(layers, x)
		out := make([]layer, len(layers))
		for i, l := range layers {
			out[i] = layer{ops.Sub(l.W, ops.Mul(g[i].W, 0.01)), ops.Sub(l.B, ops.Mul(g[i].B, 0.01))}
		}
		return out
	}
	for _, size := range []int{48, 128} {
		var layers []layer
		for range 6 {
			layers = append(layers, layer{ops.Mul(ones(size, size), 0.01), ones(size)})
		}
		f := function.New(step)
		for _, known := range []bool{true, false} {
			var p profile.Profile
			ctx := function.WithOptions(t.Context(), function.RunOptions{Profile: &p})
			rows := []int{200}
			if !known {
				rows = []int{100, 150, 250, 300}
			}
			for _, n := range rows {
				p = profile.Profile{}
				if _, err := f.CallContext(ctx, layers, ones(n, size)); err != nil {
					t.Fatal(err)
				}
			}
			var held, needed int64
			for _, e := range p.Events() {
				held, needed = max(held, e.Held), max(needed, e.Needed)
			}
			if ratio := float64(held) / float64(needed); needed == 0 || ratio > 1.3 {
				t.Errorf("layers of %d, sizes known %v: %d bytes are held, %d needed at one time: %.2f times", size, known, held, needed, ratio)
			}
		}
	}
}

// Calls that are cancelled, or fail, leave no goroutine behind.
func TestNothingGoesOn(t *testing.T) {
	before := runtime.NumGoroutine()
	cut := errors.New("cut off")
	f := function.New(func(x T) T {
		x = control.While(func(x T) T { return ops.GreaterEqual(ops.Sum(x), 0) }, func(x T) T { return ops.Tanh(ops.MatMul(x, x)) }, x)
		return x
	})
	for range 10 {
		ctx, cancel := context.WithCancelCause(t.Context())
		turns := 0
		host := function.New(func(ctx context.Context, x T) (T, error) {
			x = control.While(func(x T) T { return ops.GreaterEqual(ops.Sum(x), 0) }, func(x T) T {
				return control.GoFunc(func(x T) ([]tenon.Value, error) {
					if turns++; turns == 3 {
						cancel(cut)
					}
					return []tenon.Value{x}, nil
				}, []tenon.Spec{tensor.NewSpec(dtype.Float32, x.Shape())}, x)[0].(T)
			}, x)
			return f.Call(x), nil
		})
		if _, err := host.Call(ctx, ones(20, 20)); !errors.Is(err, cut) {
			t.Fatalf("got %v", err)
		}
		if turns > 4 {
			t.Errorf("%d turns after the third one was told to be the last", turns)
		}
		if _, err := f.CallContext(ctx, ones(20, 20)); !errors.Is(err, cut) {
			t.Errorf("got %v", err)
		}
	}
	for range 1000 { // workers of a kernel end by themselves
		if runtime.NumGoroutine() <= before {
			return
		}
		runtime.Gosched()
	}
	if after := runtime.NumGoroutine(); after > before+runtime.GOMAXPROCS(0) {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
}

// GoFunc's function is called by several goroutines at a time: each call waits for all others.
func TestGoFuncAtTheSameTime(t *testing.T) {
	const n = 4
	arrived := make(chan struct{}, n)
	all := make(chan struct{})
	f := function.New(func(x T) T {
		return control.GoFunc(func(x T) ([]tenon.Value, error) {
			arrived <- struct{}{}
			<-all
			return []tenon.Value{ops.Neg(x)}, nil
		}, []tenon.Spec{tensor.NewSpec(dtype.Float32, x.Shape())}, x)[0].(T)
	})
	tenon.Must(f.Trace(vec(1)))
	results := make(chan float32)
	for i := range n {
		go func() { results <- floats(f.Call(vec(float32(i))))[0] }()
	}
	for range n {
		<-arrived
	}
	close(all)
	sum := float32(0)
	for range n {
		sum += <-results
	}
	if sum != -6 {
		t.Errorf("the results add up to %v, want -6", sum)
	}
}
