package grad

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// JVP runs f at x and returns its result and the derivative of the result along
// tangent, a structure like x. It is computed with two reverse passes: the
// derivative of a vector-Jacobian product with respect to its cotangent, which
// is linear, is the Jacobian-vector product.
func JVP[A, R any](f func(A) R, x, tangent A) (value R, deriv R, err error) {
	in, err := take(x)
	if err != nil {
		return value, deriv, err
	}
	tan, err := takeLike(tangent, x)
	if err != nil {
		return value, deriv, err
	}
	if len(tan.ts) != len(in.ts) {
		return value, deriv, tenon.NewError(tenon.ErrInvalid, "grad.JVP", fmt.Sprintf("the tangent has %d tensors, the argument %d", len(tan.ts), len(in.ts)))
	}
	var out *structure[R]
	flat := onTensors(in, f, &out)
	res, err := call(flat, in.ts)
	if err != nil {
		return value, deriv, err
	}
	var dummies []tensor.Tensor // one cotangent for each floating result, at zero
	err = catch(func() {
		for _, r := range res {
			if r.DType().IsDifferentiable() {
				dummies = append(dummies, ops.ZerosLike(r))
			}
		}
	})
	if err != nil {
		return value, deriv, err
	}
	pullback := func(cts []tensor.Tensor) ([]tensor.Tensor, error) {
		all := make([]tensor.Tensor, len(res))
		k := 0
		for i, r := range res {
			if r.DType().IsDifferentiable() {
				all[i] = cts[k]
				k++
			}
		}
		return VJPTensors(in.ts, all, flat)
	}
	var seeds []tensor.Tensor
	for i, t := range in.ts {
		if t.DType().IsDifferentiable() {
			seeds = append(seeds, tan.ts[i])
		}
	}
	lin, err := VJPTensors(dummies, seeds, pullback)
	if err != nil {
		return value, deriv, err
	}
	derivs := make([]tensor.Tensor, len(res))
	k := 0
	for i, r := range res {
		if r.DType().IsDifferentiable() {
			derivs[i] = lin[k]
			k++
		}
	}
	if value, err = out.pack(res); err != nil {
		return value, deriv, err
	}
	deriv, err = out.cotangents(derivs)
	return value, deriv, err
}

// Jacobian returns the Jacobian of a function of one tensor with one tensor as
// its result: for x of shape S and f(x) of shape R, a tensor of shape R + S.
func Jacobian(f func(tensor.Tensor) tensor.Tensor, x tensor.Tensor) (j tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	y, pull, err := VJP(f, x)
	if err != nil {
		return nil, err
	}
	n := y.Shape().Size()
	if n < 0 {
		return nil, tenon.NewError(tenon.ErrShape, "grad.Jacobian", fmt.Sprintf("the result's size is not known: %s", tenon.String(y.Spec())))
	}
	basis := ops.Reshape(ops.Eye(y.DType(), n, n), append([]int{n}, y.Shape().Dims()...))
	rows := make([]tensor.Tensor, n)
	for i := range rows {
		if rows[i], err = pull(ops.Gather(basis, int64(i), 0)); err != nil {
			return nil, err
		}
	}
	if n == 0 {
		return ops.Zeros(x.DType(), append(y.Shape().Dims(), x.Shape().Dims()...)), nil
	}
	return ops.Reshape(ops.Stack(rows, 0), append(y.Shape().Dims(), x.Shape().Dims()...)), nil
}

// Hessian returns the second derivatives of a function of one tensor with a
// scalar result: for x of shape S a tensor of shape S + S.
func Hessian(f func(tensor.Tensor) tensor.Tensor, x tensor.Tensor) (tensor.Tensor, error) {
	return Jacobian(Of[tensor.Tensor, tensor.Tensor](f), x)
}

// StopGradient returns x unchanged; its cotangent is zero. Every floating tensor
// in the structure is stopped.
func StopGradient[T any](x T) T {
	return tenon.Must(nest.Map(func(l []any) (any, error) {
		if t, ok := l[0].(tensor.Tensor); ok && t.DType().IsDifferentiable() {
			return ops.StopGradient(t), nil
		}
		return l[0], nil
	}, nest.Options{Expand: true}, x))
}

// custom is an operation whose gradient a user has given.
var custom = op.Register(&op.Op{
	Name:    "grad.custom",
	Doc:     "Runs a function whose gradient is given.",
	Params:  []op.Param{{Name: "inputs", Kind: op.Tensors}, {Name: "rule", Kind: op.Attr}},
	Results: -1,
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		out, err := call(c.Args[1].(*rule).forward, tensorsOf(c.List(0)))
		specs := make([]tenon.Spec, len(out))
		for i, o := range out {
			specs[i] = o.Spec()
		}
		return specs, err
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		return call(c.Args[1].(*rule).forward, tensorsOf(c.List(0)))
	},
	VJP: func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
		for i := range ct {
			if ct[i] == nil && out[i].DType().IsDifferentiable() {
				ct[i] = ops.ZerosLike(out[i])
			}
		}
		return tenon.Must(c.Args[1].(*rule).backward(tensorsOf(c.List(0)), out, ct))
	},
})

// rule is a function and its VJP on flat tensors.
type rule struct {
	forward  func([]tensor.Tensor) ([]tensor.Tensor, error)
	backward func(in, out, ct []tensor.Tensor) ([]tensor.Tensor, error)
}

func tensorsOf(vs []tenon.Value) []tensor.Tensor {
	ts := make([]tensor.Tensor, len(vs))
	for i, v := range vs {
		ts[i] = v.(tensor.Tensor)
	}
	return ts
}

// Custom returns f with a gradient of its own: vjp gets the argument, the result
// and the cotangent of the result (a structure like it), and returns the
// cotangent of the argument. What vjp computes with operations can be
// differentiated again.
func Custom[A, R any](f func(A) R, vjp func(x A, y R, ct R) A) func(A) R {
	return func(x A) R {
		in := tenon.Must(take(x))
		var out *structure[R]
		r := &rule{forward: onTensors(in, f, &out)}
		r.backward = func(xs, ys, cts []tensor.Tensor) ([]tensor.Tensor, error) {
			a, err := in.pack(xs)
			if err != nil {
				return nil, err
			}
			y, err := out.pack(ys)
			if err != nil {
				return nil, err
			}
			ct, err := out.cotangents(cts)
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
			if len(back.ts) != len(xs) {
				return nil, tenon.NewError(tenon.ErrInvalid, "grad.Custom", fmt.Sprintf("the gradient rule returned %d tensors for %d", len(back.ts), len(xs)))
			}
			for i, t := range xs {
				if !t.DType().IsDifferentiable() {
					back.ts[i] = nil
				}
			}
			return back.ts, nil
		}
		return tenon.Must(evaluate(custom, r, in, &out))
	}
}

// evaluate runs the operation and packs its results.
func evaluate[A, R any](o *op.Op, r *rule, in *structure[A], out **structure[R]) (R, error) {
	vs := make([]tenon.Value, len(in.ts))
	for i, t := range in.ts {
		vs[i] = t
	}
	res := op.EvalN(o, vs, r)
	return (*out).pack(res)
}

// Checkpoint returns f as a function that keeps only its argument for the
// gradient: what lies between is computed again on the way back, which trades time for
// memory.
func Checkpoint[A, R any](f func(A) R) func(A) R {
	return Custom(f, func(x A, _ R, ct R) A {
		_, pull, err := VJP(f, x)
		tenon.Throw(err)
		return tenon.Must(pull(ct))
	})
}
