package control_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

type T = tensor.Tensor

func vec(x ...float64) T { return tensor.Of(x) }

func data(t T) []float64 { return tensor.Data[float64](t) }

// bothWays checks that f gives the same eagerly, traced, and traced with the
// argument's size open, and so does its gradient (of the sum).
func bothWays(t *testing.T, f func(T) T, x T, want []float64) {
	t.Helper()
	near := cmpopts.EquateApprox(1e-12, 1e-12)
	open := tensor.NewSpec(x.DType(), shape.OfRank(x.Shape().Rank()))
	traced := function.New(f)
	anySize := function.New(f, function.Options{Signature: []any{open}})
	for name, g := range map[string]func(T) T{"eager": f, "traced": traced.Call, "any size": anySize.Call} {
		if d := cmp.Diff(want, data(g(x)), near); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	sum := func(x T) T { return ops.Sum(f(x)) }
	eager := grad.Of(sum)(x)
	inside := function.New(func(x T) T { return grad.Of(sum)(x) }).Call(x)
	if d := cmp.Diff(data(eager), data(inside), near); d != "" {
		t.Errorf("gradients, eager and traced: %s", d)
	}
	if d := cmp.Diff(differences(sum, x), data(eager), cmpopts.EquateApprox(1e-5, 1e-6)); d != "" {
		t.Errorf("gradient against finite differences: %s", d)
	}
}

// differences is the gradient of f by central differences.
func differences(f func(T) T, x T) []float64 {
	const h = 1e-6
	in := data(x)
	out := make([]float64, len(in))
	at := func(i int, by float64) float64 {
		y := append([]float64(nil), in...)
		y[i] += by
		return tensor.Item[float64](f(tensor.Of(y, x.Shape().Dims()...)))
	}
	for i := range in {
		out[i] = (at(i, h) - at(i, -h)) / (2 * h)
	}
	return out
}

func TestCond(t *testing.T) {
	f := func(x T) T {
		return control.Cond(ops.Greater(ops.Sum(x), 0.0),
			func() T { return ops.Mul(x, x) },
			func() T { return ops.Mul(x, -3.0) })
	}
	bothWays(t, f, vec(1, 2, 3), []float64{1, 4, 9})
	bothWays(t, f, vec(-1, -2), []float64{3, 6})
}

func TestSwitch(t *testing.T) {
	f := func(x T) T {
		return control.Switch(ops.Cast(ops.Sum(ops.StopGradient(x)), dtype.Int64),
			func() T { return ops.Sin(x) },
			func() T { return ops.Neg(x) },
			func() T { return ops.Square(x) })
	}
	bothWays(t, f, vec(0.5, 0.6), []float64{-0.5, -0.6})
	bothWays(t, f, vec(2.5), []float64{6.25})
	bothWays(t, f, vec(7), []float64{49}) // out of range: the last
}

func TestWhile(t *testing.T) {
	f := func(x T) T {
		type state struct {
			X T
			N T
		}
		s := control.While(
			func(s state) T { return ops.Less(s.N, int64(3)) },
			func(s state) state { return state{ops.Mul(s.X, ops.Add(x, 1.0)), ops.Add(s.N, int64(1))} },
			state{x, tensor.Scalar(int64(0))})
		return s.X
	}
	bothWays(t, f, vec(1, 2), []float64{8, 54})
}

func TestWhileThatGrows(t *testing.T) {
	f := function.New(func(x T) T {
		return control.While(
			func(x T) T { return ops.Less(ops.Size(x), int64(10)) },
			func(x T) T { return ops.Concat([]T{x, x}, 0) }, x)
	})
	if d := cmp.Diff([]float64{1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2}, data(f.Call(vec(1, 2)))); d != "" {
		t.Error(d)
	}
}

func TestScan(t *testing.T) {
	for _, reverse := range []bool{false, true} {
		f := func(x T) T {
			last, ys := control.Scan(func(c, r T) (T, T) {
				n := ops.Mul(ops.Add(c, 1.0), r)
				return n, ops.Mul(n, x) // x is captured
			}, ops.Sum(ops.Mul(x, 0.5)), x, control.ScanOptions{Reverse: reverse})
			return ops.Add(ops.Sum(ys), last)
		}
		// c0 = 3; rows 1,2,3 forward: 4, 10, 33; times x summed (6) = 282, plus 33.
		want := 6.0*(4+10+33) + 33
		if reverse { // rows 3,2,1: 12, 26, 27
			want = 6.0*(12+26+27) + 27
		}
		bothWays(t, f, vec(1, 2, 3), []float64{want})
	}
}

// A loop that has no round has results of the sizes that a round would have.
func TestScanOfNothing(t *testing.T) {
	f := function.New(func(x, c T) T {
		_, y := control.Scan(func(c, r T) (T, T) { c = ops.Add(c, r); return c, ops.Concat([]any{c, c}, 1) }, c, x)
		return y
	})
	for _, rows := range []int{0, 3} {
		if got := f.Call(tensor.Of([]float64{}, 0, rows, 2), tensor.Of(make([]float64, 2*rows), rows, 2)).Shape(); !got.Equal(shape.Of(0, rows, 4)) {
			t.Errorf("%d rows: the results have the shape %v", rows, got)
		}
	}
}

func TestFold(t *testing.T) {
	f := func(x T) T {
		return control.Fold(func(c, r T) T { return ops.Add(ops.Mul(c, 2.0), r) }, tensor.Scalar(0.0), x)
	}
	bothWays(t, f, vec(1, 0, 1, 1), []float64{11})
}

func TestMap(t *testing.T) {
	f := func(x T) T {
		return control.Map(func(r T) T { return ops.Div(r, ops.Add(ops.Sqrt(ops.Sum(ops.Square(r))), 1.0)) }, x)
	}
	bothWays(t, f, tensor.Of([]float64{3, 4, 0, 2}, 2, 2), []float64{0.5, 4.0 / 6, 0, 2.0 / 3})
}

func TestMapRowsLooksAtData(t *testing.T) {
	got := control.MapRows(func(r T) T {
		if tensor.Data[float64](r)[0] > 0 {
			return ops.Neg(r)
		}
		return r
	}, tensor.Of([]float64{1, 2, -3, 4}, 2, 2))
	if d := cmp.Diff([]float64{-1, -2, -3, 4}, data(got)); d != "" {
		t.Error(d)
	}
}

func TestGoFunc(t *testing.T) {
	calls := 0
	f := function.New(func(x T) T {
		out := control.GoFunc(func(x T) ([]tenon.Value, error) {
			calls++
			return []tenon.Value{tensor.Scalar(float64(len(data(x))))}, nil
		}, []tenon.Spec{tensor.NewSpec(dtype.Float64, shape.Shape{})}, x)
		return ops.Add(x, out[0])
	})
	for range 2 {
		if d := cmp.Diff([]float64{3, 4}, data(f.Call(vec(1, 2)))); d != "" {
			t.Error(d)
		}
	}
	if calls != 2 {
		t.Errorf("the Go function ran %d times, want once a call", calls)
	}
}

func TestErrors(t *testing.T) {
	x := vec(1, 2)
	tests := []struct {
		name string
		f    func(x T) T
		kind error
		text string
	}{
		{"predicate", func(x T) T { return control.Cond(x, func() T { return x }, func() T { return x }) }, tenon.ErrDType, "boolean scalar"},
		{"branches of different types", func(x T) T {
			return control.Cond(ops.Greater(ops.Sum(x), 0.0), func() T { return x }, func() T { return ops.Cast(x, dtype.Int32) })
		}, tenon.ErrDType, "no common Spec"},
		{"loop variable of another type", func(x T) T {
			return control.While(func(x T) T { return ops.Less(ops.Sum(x), 9) }, func(x T) T { return ops.Cast(x, dtype.Float32) }, x)
		}, tenon.ErrDType, "loop variable"},
		{"endless loop", func(x T) T {
			return control.While(func(x T) T { return ops.Greater(ops.Sum(x), -1.0) }, func(x T) T { return x }, x, control.LoopOptions{Limit: 10})
		}, tenon.ErrInvalid, "10 iterations"},
		{"host function with a wrong result", func(x T) T {
			return control.GoFunc(func(x T) ([]tenon.Value, error) { return []tenon.Value{tensor.Scalar(1)}, nil },
				[]tenon.Spec{tensor.NewSpec(dtype.Float64, shape.Shape{})}, x)[0].(T)
		}, tenon.ErrDType, "declared"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := function.New(tt.f)
			_, err := tenon.Try(func() T { return f.Call(x) })
			if !errors.Is(err, tt.kind) || !strings.Contains(fmt.Sprint(err), tt.text) {
				t.Errorf("got %v, want an error of kind %v with %q", err, tt.kind, tt.text)
			}
		})
	}
}

func ExampleWhile() {
	// Collatz steps of 27.
	type state struct{ N, Steps T }
	s := control.While(
		func(s state) T { return ops.Greater(s.N, 1) },
		func(s state) state {
			even := ops.Equal(ops.Mod(s.N, 2), 0)
			next := ops.Where(even, ops.FloorDiv(s.N, 2), ops.Add(ops.Mul(s.N, 3), 1))
			return state{next, ops.Add(s.Steps, 1)}
		},
		state{tensor.Scalar(27), tensor.Scalar(0)})
	fmt.Println(tensor.Item[int](s.Steps))
	// Output: 111
}

// A scalar has no rows, which Map says.
func TestMapOfAScalar(t *testing.T) {
	_, err := tenon.Try(func() tensor.Tensor {
		return control.Map(func(x tensor.Tensor) tensor.Tensor { return x }, tensor.Tensor(tensor.Scalar(1.0)))
	})
	if !errors.Is(err, tenon.ErrShape) || !strings.Contains(err.Error(), "float64[] has no rows") {
		t.Errorf("got %v", err)
	}
}
