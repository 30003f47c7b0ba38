package backend_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/backend"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

type T = tensor.Tensor

// simple is another backend: it runs graphs as they were recorded, one operation after the
// other, and counts.
type simple struct {
	functions, regions, nodes atomic.Int64
	fails                     error // of Compile
}

func (b *simple) Name() string { return "simple" }

func (b *simple) Devices() []backend.Device { return []backend.Device{{Kind: "abacus"}} }

func (b *simple) Compile(g *graph.Graph, o backend.Options) (backend.Program, error) {
	if o.Region {
		b.regions.Add(1)
	} else {
		b.functions.Add(1)
	}
	return &program{b, g}, b.fails
}

type program struct {
	b *simple
	g *graph.Graph
}

func (p *program) Graph() *graph.Graph { return p.g }

func (p *program) Reads(int) bool { return true }

func (p *program) Run(ctx context.Context, inputs []T) ([]T, error) {
	values := map[*graph.Value]T{}
	for i, x := range p.g.Params {
		values[x] = inputs[i]
	}
	get := func(v tenon.Value) T {
		if c, ok := v.(*graph.Value).ConstValue(); ok {
			return c
		}
		return values[v.(*graph.Value)]
	}
	for _, n := range p.g.Nodes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p.b.nodes.Add(1)
		c := &op.Call{Op: n.Op, Args: slices.Clone(n.Args)}
		c.SetContext(ctx)
		for i, a := range c.Args {
			switch a := a.(type) {
			case *graph.Value:
				c.Args[i] = get(a)
			case []tenon.Value:
				list := make([]tenon.Value, len(a))
				for k, v := range a {
					list[k] = get(v)
				}
				c.Args[i] = list
			}
		}
		out, err := c.DoTensors()
		if err != nil {
			return nil, err
		}
		for i, v := range n.Outs {
			values[v] = out[i]
		}
	}
	out := make([]T, len(p.g.Outputs))
	for i, v := range p.g.Outputs {
		out[i] = get(v)
	}
	return out, nil
}

// cube is a function with a gradient of its own.
var cube = grad.Custom(func(x T) T { return ops.Mul(x, ops.Mul(x, x)) },
	func(x, y, ct T) T { return ops.Mul(ct, ops.Mul(3, ops.Mul(x, x))) })

var programs = []struct {
	name    string
	f       func(x T) T
	regions int64 // that the kernels of nodes run
}{
	{"operations", func(x T) T { return ops.Add(ops.Sin(x), ops.Mul(x, 2)) }, 0},
	{"a branch", func(x T) T {
		return control.Cond(ops.Greater(ops.Sum(x), 0), func() T { return ops.Neg(x) }, func() T { return ops.Square(x) })
	}, 1},
	{"a loop", func(x T) T {
		return control.While(func(y T) T { return ops.Less(ops.Sum(y), 100) }, func(y T) T { return ops.Mul(y, ops.Add(x, 2)) }, x)
	}, 2},
	{"a custom gradient", func(x T) T { return cube(ops.Exp(x)) }, 1},
	{"a checkpoint", func(x T) T { return grad.Checkpoint(func(x T) T { return ops.Tanh(ops.Exp(x)) })(x) }, 1},
	{"the gradient of operations", func(x T) T {
		return grad.Of(func(x T) T { return ops.Sum(ops.Mul(ops.Sin(x), x)) })(x)
	}, 0},
	{"the gradient of a branch", func(x T) T {
		return grad.Of(func(x T) T {
			return ops.Sum(control.Cond(ops.Less(ops.Sum(x), 0), func() T { return ops.Neg(x) }, func() T { return ops.Mul(x, ops.Square(x)) }))
		})(x)
	}, 2},
	{"the gradient of a loop", func(x T) T {
		return grad.Of(func(x T) T {
			return ops.Sum(control.While(func(y T) T { return ops.Less(ops.Sum(y), 100) }, func(y T) T { return ops.Mul(y, ops.Add(x, 2)) }, x))
		})(x)
	}, 3},
	{"the gradient of a custom gradient", func(x T) T {
		return grad.Of(func(x T) T { return ops.Sum(cube(ops.Mul(x, 2))) })(x)
	}, 1},
	{"a ragged sum", func(x T) T {
		r := tenon.Must(ragged.FromRowSplits(x, tensor.Vector([]int64{0, 2, 2, 3})))
		return ops.Sum(ops.Mul(r, r), -1)
	}, 0},
}

func TestAnotherBackendGivesTheSameAnswers(t *testing.T) {
	x := tensor.Vector([]float32{0.5, 1, 2})
	for _, c := range programs {
		t.Run(c.name, func(t *testing.T) {
			want := function.New(c.f).Call(x)
			b := &simple{}
			f := function.New(c.f, function.Options{Backend: b})
			for range 2 {
				if got := f.Call(x); !tensor.Equal(got, want) {
					t.Errorf("%v, the interpreter says %v", got, want)
				}
			}
			if n := b.functions.Load(); n != 1 {
				t.Errorf("compiled %d functions", n)
			}
			if n := b.regions.Load(); n > c.regions || n == 0 && c.regions > 0 {
				t.Errorf("compiled %d regions, there are %d", n, c.regions)
			}
			if b.nodes.Load() == 0 {
				t.Error("it ran no operation")
			}
		})
	}
}

func TestCallsWithoutFunctionUseTheBackendOfTheContext(t *testing.T) {
	if b := backend.Of(t.Context()); b != backend.Default || b.Name() != "interpreter" || b.Devices()[0].String() != "cpu:0" {
		t.Errorf("the default is %s on %v", b.Name(), b.Devices())
	}
	b := &simple{}
	ctx := backend.With(t.Context(), b)
	if backend.Of(ctx) != b || backend.With(ctx, b) != ctx {
		t.Error("the context has another backend")
	}
	if back := backend.With(ctx, backend.Default); backend.Of(back) != backend.Default {
		t.Error("the inner backend is not that of the context")
	}
	g, err := graph.Trace("twice", []*tensor.Spec{tensor.NewSpec(dtype.Float32, shape.Of(2))}, func(p []T) ([]T, error) { return []T{ops.Add(p[0], p[0])}, nil })
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		p, err := backend.Region(ctx, g)
		if err != nil {
			t.Fatal(err)
		}
		out, err := p.Run(ctx, []T{tensor.Vector([]float32{1, 2})})
		if err != nil || !tensor.Equal(out[0], tensor.Vector([]float32{2, 4})) {
			t.Errorf("%v, %v", out, err)
		}
	}
	if b.regions.Load() != 1 || b.nodes.Load() != 2 {
		t.Errorf("compiled %d times, ran %d operations", b.regions.Load(), b.nodes.Load())
	}
}

func TestVariablesAreSetByAnotherBackend(t *testing.T) {
	v := tenon.Must(state.New([]float32{1}))
	f := function.New(func(x T) T { tenon.Throw(v.Assign(ops.Add(v, x))); return ops.Identity(v) }, function.Options{Backend: &simple{}})
	for want := float32(3); want < 8; want += 2 {
		if got := f.Call(tensor.Vector([]float32{2})); !tensor.Equal(got, tensor.Vector([]float32{want})) || !tensor.Equal(v.Value(), got) {
			t.Errorf("%v, the variable is %v, want %v", got, v.Value(), want)
		}
	}
}

func TestTheOuterFunctionsBackendRunsTheInnerOne(t *testing.T) {
	inner, outer := &simple{}, &simple{}
	f := function.New(func(x T) T { return ops.Neg(x) }, function.Options{Backend: inner})
	g := function.New(func(x T) T { return ops.Add(f.Call(x), 1) }, function.Options{Backend: outer})
	if got := g.Call(tensor.Vector([]float32{3})); !tensor.Equal(got, tensor.Vector([]float32{-2})) {
		t.Errorf("%v", got)
	}
	if inner.functions.Load() != 0 || outer.nodes.Load() != 2 {
		t.Errorf("the inner backend compiled %d functions, the outer one ran %d operations", inner.functions.Load(), outer.nodes.Load())
	}
}

func TestErrorsOfBackends(t *testing.T) {
	b := &simple{fails: errors.New("out of beads")}
	_, err := tenon.Try(func() T {
		return function.New(func(x T) T { return ops.Neg(x) }, function.Options{Backend: b}).Call(tensor.Vector([]float32{3}))
	})
	if err == nil || !strings.Contains(err.Error(), "out of beads") {
		t.Errorf("Compile's error became %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f := function.New(func(x T) T { return ops.Neg(x) }, function.Options{Backend: &simple{}})
	if _, err := f.CallContext(ctx, tensor.Vector([]float32{3})); !errors.Is(err, context.Canceled) {
		t.Errorf("a run whose context has ended gave %v", err)
	}
	for _, c := range []struct {
		b    backend.Backend
		want string
	}{
		{(*simple)(nil), "is nil"}, {listed{}, "cannot be compared"}, {bare{}, "no device"},
	} {
		_, err := tenon.Try(func() T {
			return function.New(func(x T) T { return x }, function.Options{Backend: c.b}).Call(tensor.Vector([]float32{3}))
		})
		if !errors.Is(err, tenon.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%T: %v", c.b, err)
		}
	}
}

// listed cannot be compared.
type listed struct {
	backend.Backend
	_ []int
}

// bare runs on nothing.
type bare struct{ backend.Backend }

func (bare) Name() string { return "bare" }

func (bare) Devices() []backend.Device { return nil }
