package optable

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/interp"
	"github.com/tenonml/tenon/internal/passes"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// A function of tensors, as grad.VJPTensors takes it.
type function = func([]tensor.Tensor) ([]tensor.Tensor, error)

// The gradient that the VJP gives, against central differences, and for smooth
// operations the gradient of the gradient too.
func TestGradients(t *testing.T) {
	eachCall(t, func(t *testing.T, r Row, c Call) {
		o := r.Definition()
		if o.Nondifferentiable {
			return
		}
		call, err := op.NewCall(o, c.Args...)
		if err != nil {
			t.Fatal(err)
		}
		wrt := differentiable(call, c)
		if len(wrt) == 0 {
			return
		}
		if o.VJP == nil {
			t.Fatal("the operation has no VJP and is not marked as nondifferentiable")
		}
		f, x := restricted(call, wrt)
		out, err := f(x)
		if err != nil {
			t.Fatal(err)
		}
		cts := cotangents(out)
		if cts == nil {
			return
		}
		gradient := func(x []tensor.Tensor) ([]tensor.Tensor, error) { return grad.VJPTensors(x, cts, f) }
		g, err := gradient(x)
		if err != nil {
			t.Fatal(err)
		}
		compareGradients(t, "gradient", f, x, cts, g, 2e-7, directions)
		inGraph(t, "gradient", gradient, x, g)
		if !r.Smooth || c.Kink || t.Failed() {
			return
		}
		u := cotangents(g)
		h, err := grad.VJPTensors(x, u, gradient)
		if err != nil {
			t.Fatal("of the gradient: ", err)
		}
		compareGradients(t, "gradient of the gradient", gradient, x, u, h, 2e-6, directions)
		inGraph(t, "gradient of the gradient", func(x []tensor.Tensor) ([]tensor.Tensor, error) { return grad.VJPTensors(x, u, gradient) }, x, h)
	})
}

// inGraph compares the results of a function, which differences have confirmed, with those of
// its graph after all passes.
func inGraph(t *testing.T, what string, f function, x, want []tensor.Tensor) {
	t.Helper()
	specs := make([]*tensor.Spec, len(x))
	for i, v := range x {
		specs[i] = tensor.NewSpec(v.DType(), v.Shape())
	}
	g, err := graph.Trace("f", specs, f)
	if err == nil {
		g, err = passes.Apply(g, passes.Default)
	}
	if err != nil {
		t.Fatalf("%s, traced: %v", what, err)
	}
	got, err := interp.For(g).Run(t.Context(), x)
	if err != nil {
		t.Fatalf("%s, traced: %v\n%v", what, err, g)
	}
	for k := range want {
		compare(t, fmt.Sprintf("%s, traced: argument %d", what, k), ArrayOf(got[k]), ArrayOf(want[k]), 1e-9)
	}
}

// A result that is not used has the cotangent nil, which means zeros, also where the gradient is
// differentiated again.
func TestMissingCotangents(t *testing.T) {
	eachCall(t, func(t *testing.T, r Row, c Call) {
		o := r.Definition()
		call, err := op.NewCall(o, c.Args...)
		if err != nil || o.Nondifferentiable || o.VJP == nil {
			return
		}
		wrt := differentiable(call, c)
		if len(wrt) == 0 {
			return
		}
		f, x := restricted(call, wrt)
		out, err := f(x)
		if err != nil {
			t.Fatal(err)
		}
		check := func(what string, f function, out []tensor.Tensor) {
			cts := cotangents(out)
			if len(out) < 2 || cts == nil {
				return
			}
			for i, y := range out {
				if cts[i] == nil {
					continue
				}
				zero, none := slices.Clone(cts), slices.Clone(cts)
				zero[i], none[i] = tensor.NewDense(y.DType(), y.Shape()), nil
				want, err := grad.VJPTensors(x, zero, f)
				if err != nil {
					t.Fatal(err)
				}
				got, err := grad.VJPTensors(x, none, f)
				if err != nil {
					t.Fatalf("%s, without the cotangent of result %d: %v", what, i, err)
				}
				for k := range want {
					compare(t, fmt.Sprintf("%s, without the cotangent of result %d: argument %d", what, i, k), ArrayOf(got[k]), ArrayOf(want[k]), 1e-12)
				}
			}
		}
		check("gradient", f, out)
		cts := cotangents(out)
		if !r.Smooth || c.Kink || cts == nil {
			return
		}
		gradient := func(x []tensor.Tensor) ([]tensor.Tensor, error) { return grad.VJPTensors(x, cts, f) }
		g, err := gradient(x)
		if err != nil {
			t.Fatal(err)
		}
		check("gradient of the gradient", gradient, g)
	})
}

// differentiable returns the positions of the tensor arguments that a call's
// gradients are compared for: float64 or complex128, and not large.
func differentiable(call *op.Call, c Call) []int {
	if c.Grad != nil && len(c.Grad) == 0 {
		return nil
	}
	var wrt []int
	for i, v := range call.Values() {
		x, ok := v.(tensor.Tensor)
		if !ok || c.Grad != nil && !slices.Contains(c.Grad, i) {
			continue
		}
		if d := x.DType(); (d == dtype.Float64 || d == dtype.Complex128) && x.Shape().Size() < 1000 {
			wrt = append(wrt, i)
		}
	}
	return wrt
}

// restricted returns a call as a function of some of its tensor arguments.
func restricted(call *op.Call, wrt []int) (function, []tensor.Tensor) {
	values := call.Values()
	x := make([]tensor.Tensor, len(wrt))
	for k, i := range wrt {
		x[k] = values[i].(tensor.Tensor)
	}
	return func(x []tensor.Tensor) ([]tensor.Tensor, error) {
		v := slices.Clone(values)
		for k, i := range wrt {
			v[i] = x[k]
		}
		return call.WithValues(v).DoTensors()
	}, x
}

// cotangents returns random cotangents for floating results, nil for others, and
// nil altogether where there is no floating one.
func cotangents(out []tensor.Tensor) []tensor.Tensor {
	cts := make([]tensor.Tensor, len(out))
	some := false
	for i, y := range out {
		if y.DType().IsDifferentiable() {
			cts[i] = UniformSeed(y.DType(), y.Shape().Dims(), -1, 1, uint64(i)+50)
			some = true
		}
	}
	if !some {
		return nil
	}
	return cts
}

// compareGradients compares g, the cotangents of x, with differences of
// L = Re Σ conj(ct)·f(x) in random directions v: dL = Re Σ conj(g)·v.
func compareGradients(t *testing.T, what string, f function, x, cts, g []tensor.Tensor, tolerance float64, directions func(n int, isComplex bool) [][]complex128) {
	t.Helper()
	for k := range x {
		if !g[k].Shape().Equal(x[k].Shape()) || g[k].DType() != x[k].DType() {
			t.Fatalf("%s: the cotangent of argument %d is %v, the argument %v", what, k, tenon.String(g[k].Spec()), tenon.String(x[k].Spec()))
		}
		gs := ArrayOf(g[k]).X
		for d, direction := range directions(len(gs), x[k].DType().IsComplex()) {
			want, size := difference(t, f, x, cts, k, direction)
			got := 0.0
			for i, v := range direction {
				got += real(gs[i])*real(v) + imag(gs[i])*imag(v)
				size = max(size, math.Abs(real(gs[i])))
			}
			if !(math.Abs(got-want) <= tolerance*max(1, size)) && !(got != got && want != want) {
				t.Fatalf("%s for argument %d: %v in direction %d, the difference is %v", what, k, got, d, want)
			}
		}
	}
}

// directions are the axes of small spaces, and random ones.
func directions(n int, isComplex bool) [][]complex128 {
	var out [][]complex128
	if n <= 12 {
		for i := range n {
			v := make([]complex128, n)
			v[i] = 1
			out = append(out, v)
			if isComplex {
				w := make([]complex128, n)
				w[i] = 1i
				out = append(out, w)
			}
		}
		return out
	}
	rng := rand.New(rand.NewPCG(9, uint64(n)))
	for range 4 {
		v := make([]complex128, n)
		for i := range v {
			v[i] = complex(rng.Float64()*2-1, 0)
			if isComplex {
				v[i] += complex(0, rng.Float64()*2-1)
			}
		}
		out = append(out, v)
	}
	return out
}

// difference returns the derivative of L in a direction of argument k, by central
// differences with one step of Richardson's extrapolation, and the size of L.
func difference(t *testing.T, f function, x, cts []tensor.Tensor, k int, direction []complex128) (slope, size float64) {
	t.Helper()
	at := func(h float64) float64 {
		y := slices.Clone(x)
		y[k] = moved(x[k].(*tensor.Dense), direction, h)
		out, err := f(y)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for i, o := range out {
			if cts[i] == nil {
				continue
			}
			ct := ArrayOf(cts[i]).X
			for j, v := range ArrayOf(o).X {
				if cmplx.IsInf(v) || ct[j] == 0 { // the start of an exclusive scan
					continue
				}
				term := real(ct[j])*real(v) + imag(ct[j])*imag(v)
				sum += term
				size = max(size, math.Abs(term))
			}
		}
		return sum
	}
	const h = 2e-4
	coarse := (at(h) - at(-h)) / (2 * h)
	fine := (at(h/2) - at(-h/2)) / h
	return (4*fine - coarse) / 3, size
}

func moved(x *tensor.Dense, direction []complex128, h float64) tensor.Tensor {
	if x.DType() == dtype.Complex128 {
		out := slices.Clone(tensor.Data[complex128](x))
		for i, v := range direction {
			out[i] += v * complex(h, 0)
		}
		return tensor.Wrap(out, x.Shape())
	}
	out := slices.Clone(tensor.Data[float64](x))
	for i, v := range direction {
		out[i] += real(v) * h
	}
	return tensor.Wrap(out, x.Shape())
}
