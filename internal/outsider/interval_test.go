package outsider_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"example.com/outsider"
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/spectest"
	"github.com/tenonml/tenon/tensor"
)

func interval(lo, hi []float64) outsider.Interval { return tenon.Must(outsider.New(lo, hi)) }

func equal(t *testing.T, what string, got, want tenon.Value) {
	t.Helper()
	if !tensor.Equal(got, want, tensor.EqualOptions{}) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func Example() {
	x := tenon.Must(outsider.New([]float64{-1, 2}, []float64{1, 3}))
	fmt.Println(ops.Mul(x, -2))
	fmt.Println(ops.Square(x))
	fmt.Println(ops.Sum(ops.Add(x, x)))
	// Output:
	// Interval(lo=[-2. -6.] float64[2], hi=[ 2. -4.] float64[2])
	// Interval(lo=[0. 4.] float64[2], hi=[1. 9.] float64[2])
	// Interval(lo=2.0 float64[], hi=8.0 float64[])
}

func TestLaws(t *testing.T) {
	spectest.Laws(t, spectest.Options{}, interval([]float64{0, 1}, []float64{1, 2}), tenon.Must(outsider.New(0.0, 0.0)), interval(nil, nil))
}

func TestFunction(t *testing.T) {
	f := function.New(func(x outsider.Interval) tensor.Tensor { return ops.Tanh(ops.Sub(x, 1)) })
	x := interval([]float64{0, 1}, []float64{1, 2})
	equal(t, "traced", f.Call(x), ops.Tanh(ops.Sub(x, 1)))
	f.Call(interval([]float64{5, 6}, []float64{7, 8}))
	if text := f.Explain(); !strings.Contains(text, "1 traces") {
		t.Errorf("calls with the same Spec: %s", text)
	}
}

func TestLoop(t *testing.T) {
	type state struct {
		X outsider.Interval
		N tensor.Tensor
	}
	double := func(s state) state {
		s = control.While(func(s state) tensor.Tensor { return ops.Less(s.N, int64(3)) },
			func(s state) state {
				return state{tenon.Must(ext.Convert[outsider.Interval](ops.Add(s.X, s.X))), ops.Add(s.N, int64(1))}
			}, s)
		return s
	}
	start := state{interval([]float64{1}, []float64{2}), tensor.Scalar(int64(0))}
	want := interval([]float64{8}, []float64{16})
	equal(t, "eager", double(start).X, want)
	equal(t, "traced", function.New(double).Call(start).X, want)
}

func TestBranchesAreCast(t *testing.T) {
	f := function.New(func(p, x tensor.Tensor, y outsider.Interval) tensor.Tensor {
		return control.Cond(p, func() tensor.Tensor { return x }, func() tensor.Tensor { return y })
	})
	x, y := tensor.Vector([]float64{1, 2}), interval([]float64{0, 0}, []float64{1, 1})
	equal(t, "dense", f.Call(tensor.Scalar(true), x, y), outsider.Interval{Lo: x, Hi: x})
	equal(t, "interval", f.Call(tensor.Scalar(false), x, y), y)
}

func TestConversionThatLosesIsExplicit(t *testing.T) {
	x := interval([]float64{0}, []float64{2})
	equal(t, "asked for", tenon.Must(ext.Convert[tensor.Tensor](x)), tensor.Vector([]float64{1}))
	if _, err := tenon.Cast(x, tensor.Vector([]float64{1}).Spec()); !errors.Is(err, tenon.ErrUnsupported) {
		t.Errorf("not asked for: %v", err)
	}
}

// A layer that is trained to keep its answer for all inputs near the given one.
func TestTraining(t *testing.T) {
	x := tensor.Tensor(tenon.Must(tensor.Convert([][]float64{{1, 0.5}})))
	loss := func(w tensor.Tensor) tensor.Tensor {
		out := tenon.Must(ext.Convert[outsider.Interval](ops.MatMul(outsider.Around(x, 0.1), w)))
		return ops.Add(ops.Sum(ops.SquaredDifference(out.Middle(), 1)), ops.Sum(out.Width()))
	}
	step := function.New(func(w tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
		l, g := grad.ValueAndGrad(func(w tensor.Tensor, _ struct{}) tensor.Tensor { return loss(w) })(w, struct{}{})
		return l, ops.Sub(w, ops.Mul(g, 0.1))
	})
	w := tensor.Tensor(tenon.Must(tensor.Convert([][]float64{{0.2}, {-0.3}})))
	first, w := step.Call(w)
	var last tensor.Tensor
	for range 50 {
		last, w = step.Call(w)
	}
	if a, b := tensor.Item[float64](first), tensor.Item[float64](last); !(b < a/2) {
		t.Errorf("the loss went from %v to %v", a, b)
	}
}

func TestGradientIsAnInterval(t *testing.T) {
	g := grad.Of(func(x outsider.Interval) tensor.Tensor { return ops.Sum(x.Width()) })(interval([]float64{1}, []float64{2}))
	equal(t, "gradient", g, outsider.Interval{Lo: tensor.Vector([]float64{-1}), Hi: tensor.Vector([]float64{1})})
}

func TestBatches(t *testing.T) {
	a, b := interval([]float64{1}, []float64{2}), interval([]float64{3}, []float64{4})
	both := tenon.Must(ext.Stack(a, b))
	equal(t, "row", tenon.Must(ext.Row(both, 1)), b)
	mapped := control.Map(func(x outsider.Interval) tensor.Tensor { return ops.Sum(x.Width()) }, both)
	equal(t, "map", mapped, tensor.Vector([]float64{1, 1}))
}

// A Spec that was saved is read back; a program that does not know the type reads an
// opaque one and loses nothing.
func TestSpecOnDisk(t *testing.T) {
	x := interval([]float64{0, 1}, []float64{1, 2})
	saved := tenon.AppendBinary(nil, x.Spec())
	back, _, err := tenon.DecodeBinary(saved)
	if err != nil || !tenon.Equal(back, x.Spec()) {
		t.Fatalf("reads back as %v, %v", back, err)
	}
	parts, err := nest.Flatten(x, nest.Options{Expand: true})
	if err != nil {
		t.Fatal(err)
	}

	if err := ext.Unregister[outsider.Interval](); err != nil {
		t.Fatal(err)
	}
	unknown, _, err := tenon.DecodeBinary(saved)
	if err != nil {
		t.Fatal(err)
	}
	v, err := nest.Pack[any](unknown, parts, nest.Options{Expand: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tenon.Try(func() tensor.Tensor { return ops.Neg(v) }); err == nil || !strings.Contains(err.Error(), "import the package") {
		t.Errorf("an operation on a value of an unknown type: %v", err)
	}
	ext.Register[outsider.Interval]("example.com/outsider.Interval")
	real, err := ext.Resolve(v.(tenon.Value))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "resolved", real, x)
}

func TestExplain(t *testing.T) {
	o, _ := op.Lookup("add")
	e := op.Explain(o, interval([]float64{1}, []float64{2}), tensor.Vector([]float64{1}))
	if e.Answer != "example.com/outsider.Interval" {
		t.Errorf("got %v", e)
	}
}

func TestBadIntervals(t *testing.T) {
	for name, bad := range map[string][2]any{
		"the bounds are the wrong way round": {1.0, 0.0}, "shapes differ": {[]float64{1}, 2.0}, "integers": {1, 2}, "types differ": {float32(1), 2.0},
	} {
		if _, err := outsider.New(bad[0], bad[1]); !errors.Is(err, tenon.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := tenon.Try(func() tensor.Tensor { return ops.Div(interval([]float64{1}, []float64{1}), 2) })
	if !errors.Is(err, tenon.ErrDType) {
		t.Errorf("an operation that nobody answers: %v", err)
	}
}
