package grad_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/profile"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

// halved is the square, with half of its gradient.
func halved(x T) T {
	return grad.Custom(func(x T) T { return ops.Square(x) }, func(x, _, ct T) T { return ops.Mul(ct, x) })(x)
}

// Programs with functions that have gradients of their own, or are computed again, inside of
// all that takes functions; and the same without them, where that has the same gradient.
func TestCustomAnywhere(t *testing.T) {
	v := tenon.Must(state.New(vec(2, 3)))
	block := func(x T) T { return ops.Sin(ops.Exp(ops.Mul(x, 0.3))) }
	for _, c := range []struct {
		name string
		f, g func(w T) T // g is f without
	}{
		{"custom", func(w T) T { return halved(w) }, func(w T) T { return ops.Mul(ops.Square(w), 0.5) }},
		{"custom in a branch", func(w T) T {
			return control.Cond(ops.Greater(ops.Sum(w), 0), func() T { return halved(w) }, func() T { return w })
		}, func(w T) T { return ops.Mul(ops.Square(w), 0.5) }},
		{"custom in a scan", func(w T) T {
			c, _ := control.Scan(func(c, x T) (T, T) { c = ops.Add(halved(x), c); return c, c }, T(tensor.Scalar(0.0)), w)
			return c
		}, func(w T) T { return ops.Mul(ops.Sum(ops.Square(w)), 0.5) }},
		{"custom in a loop", func(w T) T {
			type s struct{ X, N T }
			return control.While(func(v s) T { return ops.Less(v.N, int64(2)) }, func(v s) s { return s{ops.Add(halved(v.X), w), ops.Add(v.N, int64(1))} }, s{ops.Mul(w, 1), tensor.Scalar(int64(0))}).X
		}, nil},
		{"custom of rows", func(w T) T { return control.Map(func(x T) T { return halved(ops.Mul(x, w)) }, w) }, func(w T) T {
			return ops.Mul(ops.Square(ops.Mul(ops.ExpandDims(w, 1), w)), 0.5)
		}},
		{"custom with captures", func(w T) T {
			return grad.Custom(func(x T) T { return ops.Mul(x, ops.Exp(w)) }, func(x, _, ct T) T { return ops.Mul(ct, 7.0) })(w)
		}, func(w T) T { return ops.Add(ops.Mul(ops.StopGradient(w), ops.Exp(w)), ops.Mul(w, 7.0)) }},
		{"custom of constants", func(w T) T { return ops.Mul(halved(vec(3, 4)), w) }, func(w T) T { return ops.Mul(vec(9, 16), w) }},
		{"checkpoint", grad.Checkpoint(block), block},
		{"checkpoint with captures", func(w T) T {
			return grad.Checkpoint(func(x T) T { return ops.Mul(ops.Sin(x), ops.Tanh(w)) })(ops.Square(w))
		}, func(w T) T { return ops.Mul(ops.Sin(ops.Square(w)), ops.Tanh(w)) }},
		{"checkpoint of constants with captures", func(w T) T {
			return grad.Checkpoint(func(x T) T { return ops.Mul(ops.Sin(x), ops.Tanh(w)) })(vec(1, 2))
		}, func(w T) T { return ops.Mul(ops.Sin(vec(1, 2)), ops.Tanh(w)) }},
		{"checkpoints in checkpoints", func(w T) T {
			return grad.Checkpoint(func(x T) T { return ops.Add(grad.Checkpoint(func(y T) T { return ops.Mul(block(y), x) })(w), w) })(ops.Tanh(w))
		}, func(w T) T { return ops.Add(ops.Mul(block(w), ops.Tanh(w)), w) }},
		{"checkpoint with a variable", func(w T) T {
			return grad.Checkpoint(func(x T) T { return ops.Add(ops.Mul(ops.Sin(x), v), ops.Exp(v)) })(w)
		}, func(w T) T { return ops.Add(ops.Mul(ops.Sin(w), vec(2, 3)), ops.Exp(vec(2, 3))) }},
		{"checkpoint of rows", func(w T) T {
			return control.Map(func(x T) T { return grad.Checkpoint(block)(ops.Mul(x, w)) }, w)
		}, func(w T) T { return block(ops.Mul(ops.ExpandDims(w, 1), w)) }},
		{"checkpoint with control flow", func(w T) T {
			return grad.Checkpoint(func(x T) T {
				return control.Cond(ops.Greater(ops.Sum(x), 0), func() T { return ops.Mul(block(x), w) }, func() T { return x })
			})(w)
		}, func(w T) T { return ops.Mul(block(w), w) }},
		{"what is only passed on", func(w T) T { return grad.Checkpoint(func(x T) T { return w })(ops.Exp(w)) }, func(w T) T { return w }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := vec(0.7, 1.3)
			loss := func(f func(T) T) func(T) T {
				return func(w T) T { return ops.Sum(ops.Mul(f(w), ops.Add(ops.Range(0.0, 2.0, 1.0), 1))) }
			}
			eager := grad.Of(loss(c.f))(w)
			if c.g != nil {
				same(t, data(grad.Of(loss(c.g))(w)), eager)
			}
			same(t, data(eager), function.New(grad.Of(loss(c.f))).Call(w))
			open := function.New(grad.Of(loss(c.f)), function.Options{Signature: []any{tensor.NewSpec(dtype.Float64, w.Shape().Relaxed())}})
			same(t, data(eager), open.Call(w))
			if c.g != nil && !strings.HasPrefix(c.name, "custom") {
				second := func(f func(T) T) func(T) T {
					first := grad.Of(loss(f))
					return grad.Of(func(w T) T { return ops.Sum(ops.Sin(first(w))) })
				}
				want := data(second(c.g)(w))
				same(t, want, second(c.f)(w))
				same(t, want, function.New(second(c.f)).Call(w))
			}
		})
	}
}

// Go code of a function with a gradient of its own runs while it is traced and not again, so that
// calls at the same time have nothing in common.
func TestCustomRunsAsGraph(t *testing.T) {
	runs := 0
	f := function.New(func(x T) T {
		return grad.Custom(func(x T) T { runs++; return ops.Exp(x) }, func(_, y, ct T) T { return ops.Mul(y, ct) })(x)
	})
	f.Call(vec(1))
	before := runs
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { f.Call(vec(2)) })
	}
	all.Wait()
	if runs != before {
		t.Errorf("the function ran %d times in eight calls", runs-before)
	}
	g := tenon.Must(f.Trace(vec(1)))
	if len(g.Nodes) != 1 || g.Nodes[0].Op.Name != "exp" || !strings.HasPrefix(g.Nodes[0].Line, "grad/custom_test.go:") {
		t.Errorf("the graph is\n%v", g)
	}
}

func TestCustomRuleIsWrong(t *testing.T) {
	f := grad.Custom(func(x T) T { return ops.Sum(x) }, func(_, _, ct T) T { return ct })
	_, err := tenon.Try(func() T { return grad.Of(f)(vec(1, 2)) })
	if err == nil || !strings.Contains(err.Error(), "returned float64[] for float64[2]") {
		t.Errorf("got %v", err)
	}
}

// Go control flow sees data, and the function runs once: on the way back operations run, not Go code.
func TestCheckpointRunsOnce(t *testing.T) {
	runs := 0
	f := func(w T) T {
		return ops.Sum(grad.Checkpoint(func(x T) T {
			runs++
			if data(x)[0] > 0 {
				return ops.Mul(x, ops.Tanh(w))
			}
			return ops.Neg(x)
		})(ops.Exp(w)))
	}
	got := grad.Of(f)(vec(0.5))
	same(t, data(grad.Of(func(w T) T { return ops.Sum(ops.Mul(ops.Exp(w), ops.Tanh(w))) })(vec(0.5))), got)
	if runs != 1 {
		t.Errorf("the function ran %d times", runs)
	}
}

// A chain of blocks needs less memory at one time when each is computed again.
func TestCheckpointSavesMemory(t *testing.T) {
	w := ops.Mul(ops.Ones(dtype.Float64, []int{32, 32}), 0.04)
	block := func(x T) T {
		for range 5 {
			x = ops.Gelu(ops.MatMul(ops.Tanh(x), w))
		}
		return x
	}
	var peaks [2]int64
	var grads [2]T
	for i, b := range []func(T) T{block, grad.Checkpoint(block)} {
		f := function.New(grad.Of(func(x T) T { return ops.Sum(b(b(b(b(x))))) }))
		var p profile.Profile
		out, err := f.CallContext(function.WithOptions(context.Background(), function.RunOptions{Profile: &p}), ops.Ones(dtype.Float64, []int{64, 32}))
		if err != nil {
			t.Fatal(err)
		}
		peaks[i], grads[i] = p.Peak(), out[0].(T)
	}
	same(t, data(grads[0]), grads[1])
	if peaks[1] > peaks[0]*2/3 {
		t.Errorf("the peak is %d bytes, without checkpoints %d", peaks[1], peaks[0])
	}
}

func TestVJPRunsOnce(t *testing.T) {
	runs := 0
	f := func(x T) T { runs++; return ops.Exp(ops.Mul(x, 2)) }
	y, back, err := grad.VJP(f, vec(0, 1))
	if err != nil {
		t.Fatal(err)
	}
	e := data(y)
	same(t, []float64{2 * e[0], 0}, tenon.Must(back(vec(1, 0))))
	same(t, []float64{6 * e[0], 8 * e[1]}, tenon.Must(back(vec(3, 4))))
	if runs != 1 {
		t.Errorf("two cotangents: the function ran %d times", runs)
	}
	runs = 0
	j := tenon.Must(grad.Jacobian(f, vec(0, 1)))
	if d := cmp.Diff([]float64{2 * e[0], 0, 0, 2 * e[1]}, data(j), near); d != "" || runs != 1 {
		t.Errorf("the function ran %d times: %s", runs, d)
	}
	runs = 0
	if _, _, err := grad.JVP(f, vec(0, 1), vec(1, 1)); err != nil || runs != 1 {
		t.Errorf("JVP: the function ran %d times, %v", runs, err)
	}
	h := tenon.Must(grad.Hessian(func(x T) T {
		c, _ := control.Scan(func(c, x T) (T, T) { return ops.Mul(c, ops.Sin(x)), x }, T(tensor.Scalar(1.0)), x)
		return c
	}, vec(0.3, 0.4)))
	g := tenon.Must(grad.Hessian(func(x T) T { return ops.Prod(ops.Sin(x)) }, vec(0.3, 0.4)))
	same(t, data(g), h)
}
