package grad_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

type T = tensor.Tensor

func vec(x ...float64) T { return tensor.Of(x) }

func data(t T) []float64 { return tensor.Data[float64](t) }

var near = cmpopts.EquateApprox(1e-12, 1e-12)

func same(t *testing.T, want []float64, got T) {
	t.Helper()
	if d := cmp.Diff(want, data(got), near); d != "" {
		t.Error(d)
	}
}

type weights struct {
	W, B T
	Free T // not used by the loss
}

func TestValueAndGrad(t *testing.T) {
	loss := func(w weights, x T) T { return ops.Sum(ops.Square(ops.Add(ops.Mul(w.W, x), w.B))) }
	v, g := grad.ValueAndGrad(loss)(weights{vec(1, 2), vec(0.5), vec(7)}, vec(3, 4))
	if got := tensor.Item[float64](v); got != 3.5*3.5+8.5*8.5 {
		t.Errorf("loss = %v", got)
	}
	same(t, []float64{2 * 3.5 * 3, 2 * 8.5 * 4}, g.W)
	same(t, []float64{2*3.5 + 2*8.5}, g.B) // summed over the broadcast axis
	same(t, []float64{0}, g.Free)
}

func TestGoControlFlowInside(t *testing.T) {
	f := func(x T) T {
		for i := range 3 {
			if data(x)[0] > float64(i) { // eager: the elements are there
				x = ops.Mul(x, x)
			}
		}
		return ops.Sum(x)
	}
	same(t, []float64{8 * 2 * 2 * 2 * 2 * 2 * 2 * 2}, grad.Of(f)(vec(2))) // x^8 after three squarings
}

func TestHigherOrder(t *testing.T) {
	cube := func(x T) T { return ops.Sum(ops.Mul(ops.Mul(x, x), x)) }
	first := grad.Of(cube)
	second := grad.Of(func(x T) T { return ops.Sum(first(x)) })
	third := grad.Of(func(x T) T { return ops.Sum(second(x)) })
	same(t, []float64{12, 27}, first(vec(2, 3)))
	same(t, []float64{12, 18}, second(vec(2, 3)))
	same(t, []float64{6, 6}, third(vec(2, 3)))
	same(t, []float64{12, 18}, function.New(second).Call(vec(2, 3)))
}

func TestJacobianAndHessian(t *testing.T) {
	f := func(x T) T { return ops.Stack([]T{ops.Sum(ops.Square(x)), ops.Prod(x)}, 0) }
	j, err := grad.Jacobian(f, vec(2, 3))
	if err != nil {
		t.Fatal(err)
	}
	same(t, []float64{4, 6, 3, 2}, j)
	h, err := grad.Hessian(func(x T) T { return ops.Prod(x) }, vec(2, 3, 4))
	if err != nil {
		t.Fatal(err)
	}
	same(t, []float64{0, 4, 3, 4, 0, 2, 3, 2, 0}, h)
}

func TestJVP(t *testing.T) {
	y, dy, err := grad.JVP(func(x T) T { return ops.Exp(x) }, vec(0, 1), vec(2, 3))
	if err != nil {
		t.Fatal(err)
	}
	e := 2.718281828459045
	same(t, []float64{1, e}, y)
	same(t, []float64{2, 3 * e}, dy)
}

func TestStopGradientAndCustom(t *testing.T) {
	f := func(x T) T { return ops.Sum(ops.Mul(x, grad.StopGradient(x))) }
	same(t, []float64{2, 3}, grad.Of(f)(vec(2, 3)))
	clipped := grad.Custom(func(x T) T { return ops.Square(x) }, func(x, y, ct T) T { return ops.Clip(ops.Mul(ct, ops.Mul(x, 2.0)), -1.0, 1.0) })
	g := func(x T) T { return ops.Sum(clipped(x)) }
	same(t, []float64{0.5, 1}, grad.Of(g)(vec(0.25, 3)))
	same(t, []float64{0.5, 1}, function.New(grad.Of(g)).Call(vec(0.25, 3)))
}

func TestErrors(t *testing.T) {
	tests := []struct {
		name string
		f    func() T
		kind error
		text string
	}{
		{"not a scalar", func() T { return grad.Of(func(x T) T { return x })(vec(1, 2)) }, tenon.ErrShape, "not a floating-point scalar"},
		{"integers", func() T {
			type in struct{ X, N T }
			return grad.Of(func(v in) T { return ops.Sum(v.X) })(in{vec(1), tensor.Of([]int64{1})}).X
		}, tenon.ErrDType, "N"},
		{"used afterwards", func() T {
			var kept T
			grad.Of(func(x T) T { kept = x; return ops.Sum(x) })(vec(1))
			return ops.Neg(kept)
		}, tenon.ErrInvalid, "after the gradient"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tenon.Try(tt.f)
			if !errors.Is(err, tt.kind) || !strings.Contains(fmt.Sprint(err), tt.text) {
				t.Errorf("got %v, want an error of kind %v with %q", err, tt.kind, tt.text)
			}
		})
	}
}

func TestIntegerResultsHaveNoGradient(t *testing.T) {
	f := func(x T) T { return ops.Sum(ops.Mul(x, ops.Cast(ops.ArgMax(x, 0), dtype.Float64))) }
	same(t, []float64{1, 1, 1}, grad.Of(f)(vec(1, 5, 2)))
}

func ExampleOf() {
	f := func(x tensor.Tensor) tensor.Tensor { return ops.Sum(ops.Mul(x, x)) }
	fmt.Println(grad.Of(f)(tensor.Of([]float64{1, 2, 3})))
	// Output: [2. 4. 6.] float64[3]
}
