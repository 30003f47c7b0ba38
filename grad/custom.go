package grad

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/backend"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// customOp runs a region that has a gradient of its own. The first n inputs are the argument of the
// function from which the region was recorded, and the others are its captures.
var customOp = op.Register(&op.Op{
	Name: "grad.custom", Statement: op.Statement{Axes: op.Opaque, Missing: op.Refuse, Why: "runs functions of the program"},
	Doc: "Runs a region whose gradient is given by a rule.",
	Params: []op.Param{
		{Name: "inputs", Kind: op.Tensors},
		{Name: "n", Kind: op.Attr, Type: op.IntType},
		{Name: "forward", Kind: op.Attr},
		{Name: "rule", Kind: op.Attr, Optional: true, Convert: ruleFrom}, // nil: the gradient of the region itself
		{Name: "apart", Kind: op.Attr, Type: op.BoolType, Default: false},
	},
	Results: -1,
	Infer:   inferRegion,
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		if r, ok := c.Args[3].(*rule); ok && r.out != nil { // recorded while running on data, so the first run has been done
			out := r.out
			r.out = nil
			return out, nil
		}
		return runRegion(c)
	},
})

// callOp replaces customOp once its gradient has been taken. It keeps the region together, so that
// recomputation is not eliminated as a common subexpression.
var callOp = op.Register(&op.Op{
	Name: "grad.call", Statement: op.Statement{Axes: op.Opaque, Missing: op.Refuse, Why: "runs functions of the program"},
	Doc: "Runs a region.",
	Params: []op.Param{
		{Name: "inputs", Kind: op.Tensors},
		{Name: "n", Kind: op.Attr, Type: op.IntType, Default: 0},
		{Name: "forward", Kind: op.Attr},
	},
	Results: -1,
	Infer:   inferRegion,
	Kernel:  runRegion,
})

func init() { // the rules refer to the operations
	customOp.VJP = func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
		for i := range ct {
			if ct[i] == nil && out[i].DType().IsDifferentiable() {
				ct[i] = ops.ZerosLike(out[i])
			}
		}
		return tenon.Must(backwardOf(c)(c.Tensors(0), out, ct))
	}
	callOp.VJP = func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
		_, in, err := vjpTensors(c.Tensors(0), c.Args[2].(*graph.Graph).Inline, seeds(ct))
		tenon.Throw(err)
		return in
	}
}

func inferRegion(c *op.Call) ([]tenon.Spec, error) {
	g := c.Args[2].(*graph.Graph)
	specs := make([]tenon.Spec, len(g.Outputs))
	for i, o := range g.Outputs {
		specs[i] = o.Spec()
	}
	return specs, nil
}

func runRegion(c *op.Call) ([]tensor.Tensor, error) {
	p, err := backend.Region(c.Context(), c.Args[2].(*graph.Graph))
	if err != nil {
		return nil, err
	}
	return p.Run(c.Context(), c.Tensors(0))
}

// seeds returns the given cotangents, whatever the results are.
func seeds(ct []tensor.Tensor) func([]tensor.Tensor) ([]tensor.Tensor, error) {
	return func([]tensor.Tensor) ([]tensor.Tensor, error) { return ct, nil }
}

// Custom returns f with a custom gradient. vjp gets the argument, the result and
// the cotangent of the result (a structure like it), and returns the cotangent of
// the argument. What vjp computes with operations can be differentiated again.
// What f captures is differentiated as if f had no rule.
func Custom[A, R any](f func(A) R, vjp func(x A, y R, ct R) A) func(A) R {
	return func(x A) R {
		in := tenon.Must(take(x))
		if graph.Current() == nil && !anyRecorded(in.ts) {
			return f(x) // nobody needs the gradient
		}
		r := tenon.Must(record(in, f))
		n := len(in.ts)
		made := &rule{region: r.region, out: r.values}
		made.backward = func(ins, outs, cts []tensor.Tensor) ([]tensor.Tensor, error) {
			a, err := in.pack(ins[:n])
			if err != nil {
				return nil, err
			}
			y, err := r.out.pack(outs)
			if err != nil {
				return nil, err
			}
			full := slices.Clone(cts)
			for i := range full { // integer components, such as row splits, are those of the result
				if full[i] == nil {
					full[i] = outs[i]
				}
			}
			ct, err := r.out.pack(full)
			if err != nil {
				return nil, err
			}
			g, err := tenon.Try(func() A { return vjp(a, y, ct) })
			if err != nil {
				return nil, err
			}
			back, err := takeLike(g, a)
			if err != nil {
				return nil, err
			}
			if len(back.ts) != n {
				return nil, tenon.NewError(tenon.ErrInvalid, "grad.Custom", fmt.Sprintf("the gradient rule returned %d tensors for %d", len(back.ts), n))
			}
			for i, t := range ins[:n] {
				if !t.DType().IsDifferentiable() {
					back.ts[i] = nil
				} else if b := back.ts[i]; b.DType() != t.DType() || !b.Shape().CompatibleWith(t.Shape()) {
					return nil, &tenon.Error{Kind: tenon.ErrShape, Op: "grad.Custom", Where: in.paths[in.at[i]].String(),
						Msg: fmt.Sprintf("the gradient rule returned %s for %s", tenon.String(b.Spec()), tenon.String(t.Spec()))}
				}
			}
			captured, err := r.ofCaptures(ins, cts, n)
			return append(back.ts, captured...), err
		}
		return tenon.Must(r.call(in.ts, made, false))
	}
}

// ofCaptures returns the cotangents of what a function captures.
func (r *recorded[R]) ofCaptures(ins, cts []tensor.Tensor, n int) ([]tensor.Tensor, error) {
	some := false
	for _, t := range ins[n:] {
		some = some || t.DType().IsDifferentiable()
	}
	if !some {
		return make([]tensor.Tensor, len(ins)-n), nil
	}
	_, back, err := vjpTensors(ins[n:], func(captured []tensor.Tensor) ([]tensor.Tensor, error) {
		return r.region.Inline(append(append([]tensor.Tensor(nil), ins[:n]...), captured...))
	}, seeds(cts))
	return back, err
}

// Checkpoint returns f as a function that keeps only its argument and what it captures for the
// gradient. Everything in between is recomputed in the backward pass, which trades time for memory.
func Checkpoint[A, R any](f func(A) R) func(A) R {
	return func(x A) R {
		in := tenon.Must(take(x))
		r := tenon.Must(record(in, f))
		made := &rule{region: r.region, out: r.values}
		return tenon.Must(r.call(in.ts, made, true))
	}
}
