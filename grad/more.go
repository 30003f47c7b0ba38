package grad

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/batching"
	"github.com/tenonml/tenon/nest"
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
	p, err := pull(in.ts, onTensors(in, f, &out))
	if err != nil {
		return value, deriv, err
	}
	res := p.out
	var dummies []tensor.Tensor // one zero cotangent for each floating-point result
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
	linear := func(cts []tensor.Tensor) ([]tensor.Tensor, error) {
		all := make([]tensor.Tensor, len(res))
		k := 0
		for i, r := range res {
			if r.DType().IsDifferentiable() {
				all[i] = cts[k]
				k++
			}
		}
		back, err := p.back(all)
		return slices.DeleteFunc(back, func(t tensor.Tensor) bool { return t == nil }), err
	}
	var seeds []tensor.Tensor
	for i, t := range in.ts {
		if t.DType().IsDifferentiable() {
			seeds = append(seeds, tan.ts[i])
		}
	}
	lin, err := VJPTensors(dummies, seeds, linear)
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

// A Crosser is a tensor around another one whose axes have a meaning beyond their position, such as
// a tensor with named dimensions. It says how to wrap a tensor that has both its own axes and those
// of another one.
type Crosser interface {
	tensor.Tensor

	// Crossed returns a tensor of the receiver's kind around data, whose axes are those of rows
	// followed by those of columns. One of rows and columns is the receiver.
	Crossed(data, rows, columns tensor.Tensor) (tensor.Tensor, error)
}

// Jacobian returns the Jacobian of a function from one tensor to one tensor: for x of shape S and
// f(x) of shape R, a tensor of shape R + S. f runs once, and a single backward pass computes the
// derivatives of all elements of the result at once. If the result or x is a [Crosser], it
// determines the kind of tensor returned.
func Jacobian(f func(tensor.Tensor) tensor.Tensor, x tensor.Tensor) (j tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	const fn = "grad.Jacobian"
	in := tenon.Must(take(x))
	var out *structure[tensor.Tensor]
	p, err := pull(in.ts, onTensors(in, f, &out))
	if err != nil {
		return nil, err
	}
	if len(p.out) != 1 || len(in.ts) != 1 {
		return nil, tenon.NewError(tenon.ErrUnsupported, fn, fmt.Sprintf("%s → %s is not a function from one tensor of numbers to another", tenon.String(x.Spec()), tenon.String(out.like.Spec())))
	}
	data, err := p.jacobian(fn)
	if err != nil {
		return nil, err
	}
	for _, side := range []tensor.Tensor{out.like, x} {
		if c, ok := side.(Crosser); ok {
			return c.Crossed(data, out.like, x)
		}
	}
	return data, nil
}

// jacobian runs the backward pass from each element of the only result to the
// only input.
func (p *pullback) jacobian(fn string) (tensor.Tensor, error) {
	y, v := p.out[0], p.vars[0]
	if v == nil || !y.DType().IsDifferentiable() {
		return nil, tenon.NewError(tenon.ErrDType, fn, fmt.Sprintf("%s has no gradient", tenon.String(y.Spec())))
	}
	n := y.Shape().Size()
	if n < 0 {
		return nil, tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("the result's size is not known: %s", tenon.String(y.Spec())))
	}
	dims := append(y.Shape().Dims(), v.Shape().Dims()...)
	if n == 0 {
		return ops.Zeros(v.DType(), dims), nil
	}
	back := func(ct tensor.Tensor) tensor.Tensor { return tenon.Must(p.back([]tensor.Tensor{ct}))[0] }
	basis := ops.Reshape(ops.Eye(y.DType(), n, n), append([]int{n}, y.Shape().Dims()...))
	rows, err := batching.Run(fn, back, basis)
	if errors.Is(err, tenon.ErrUnsupported) { // an operation that can handle only one cotangent
		each := make([]tensor.Tensor, n)
		for i := range each {
			each[i] = back(ops.Gather(basis, int64(i), 0))
		}
		rows, err = ops.Stack(each, 0), nil
	}
	if err != nil {
		return nil, err
	}
	return ops.Reshape(rows, dims), nil
}

// Hessian returns the second derivatives of a function of one tensor with a
// scalar result: for x of shape S, a tensor of shape S + S.
func Hessian(f func(tensor.Tensor) tensor.Tensor, x tensor.Tensor) (tensor.Tensor, error) {
	return Jacobian(Of[tensor.Tensor, tensor.Tensor](f), x)
}

// StopGradient returns x with the gradient of every floating-point tensor in it
// stopped: their cotangents are zero.
func StopGradient[T any](x T) T {
	return tenon.Must(nest.Map(func(l []any) (any, error) {
		if t, ok := l[0].(tensor.Tensor); ok && t.DType().IsDifferentiable() {
			return ops.StopGradient(t), nil
		}
		return l[0], nil
	}, nest.Options{Expand: true}, x))
}
