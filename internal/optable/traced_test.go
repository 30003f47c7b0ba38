package optable

import (
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	fn "github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A call gives in a graph what it gives at once, and so does its gradient, with the
// operands' sizes unknown: nothing may depend on sizes being known.
func TestTracedWithUnknownSizes(t *testing.T) {
	eachCall(t, func(t *testing.T, r Row, c Call) {
		if r.SizesKnown || r.Ref == nil {
			return
		}
		call, err := op.NewCall(r.Definition(), c.Args...)
		if err != nil {
			t.Fatal(err)
		}
		values := call.Values()
		xs := make([]tensor.Tensor, len(values))
		specs := make([]tenon.Spec, len(values))
		for i, v := range values {
			xs[i] = v.(tensor.Tensor)
			if xs[i].Shape().Size() > 1000 {
				return
			}
			specs[i] = tensor.NewSpec(xs[i].DType(), relaxed(xs[i].Shape()))
		}
		run := func(xs []tensor.Tensor) []tensor.Tensor {
			vs := make([]tenon.Value, len(xs))
			for i, x := range xs {
				vs[i] = x
			}
			return list(tenon.Must(call.WithValues(vs).Do()))
		}
		same(t, "result", run, xs, specs, 4*r.Tolerance(xs[0].DType()))
		wrt := differentiable(call, c)
		if len(wrt) == 0 || r.Definition().VJP == nil || t.Failed() {
			return
		}
		out, err := tenon.Try(func() []tensor.Tensor { return run(xs) })
		if err != nil {
			t.Fatal(err)
		}
		cts := cotangents(out)
		if cts == nil {
			return
		}
		// The cotangents are arguments too: those of results that are not floating are left out.
		n := len(xs)
		for _, ct := range cts {
			if ct != nil {
				xs, specs = append(xs, ct), append(specs, tensor.NewSpec(ct.DType(), relaxed(ct.Shape())))
			}
		}
		same(t, "gradient", func(xs []tensor.Tensor) []tensor.Tensor {
			in, all := make([]tensor.Tensor, len(wrt)), make([]tensor.Tensor, len(cts))
			for k, i := range wrt {
				in[k] = xs[i]
			}
			k := n
			for i, ct := range cts {
				if ct != nil {
					all[i] = xs[k]
					k++
				}
			}
			g, err := grad.VJPTensors(in, all, func(in []tensor.Tensor) ([]tensor.Tensor, error) {
				ys := slices.Clone(xs[:n])
				for k, i := range wrt {
					ys[i] = in[k]
				}
				return run(ys), nil
			})
			tenon.Throw(err)
			return g
		}, xs, specs, 1e-9)
	})
}

func relaxed(s shape.Shape) shape.Shape { return s.Relaxed() }

func list(vs []tenon.Value) []tensor.Tensor {
	out := make([]tensor.Tensor, len(vs))
	for i, v := range vs {
		out[i] = v.(tensor.Tensor)
	}
	return out
}

func same(t *testing.T, what string, f func([]tensor.Tensor) []tensor.Tensor, xs []tensor.Tensor, specs []tenon.Spec, tolerance float64) {
	t.Helper()
	want, err := tenon.Try(func() []tensor.Tensor { return f(xs) })
	if err != nil {
		t.Fatal(err)
	}
	signature := make([]tensor.Tensor, len(specs))
	for i, s := range specs {
		signature[i] = &placeholder{s.(*tensor.Spec)}
	}
	g := fn.New(f, fn.Options{Signature: []any{signature}})
	got, err := tenon.Try(func() []tensor.Tensor { return g.Call(xs) })
	if err != nil {
		if strings.Contains(err.Error(), "needs to know the rank") {
			return
		}
		t.Fatal(err)
	}
	for i := range want {
		compare(t, what, ArrayOf(got[i]), ArrayOf(want[i]), tolerance)
	}
}
