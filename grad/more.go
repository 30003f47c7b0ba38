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

// Jacobian returns the Jacobian of a function of one tensor with one tensor as
// its result: for x of shape S and f(x) of shape R, a tensor of shape R + S. f runs once,
// and is walked back once, for all elements of the result in bulk.
func Jacobian(f func(tensor.Tensor) tensor.Tensor, x tensor.Tensor) (j tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	y, back, err := VJP(f, x)
	if err != nil {
		return nil, err
	}
	n := y.Shape().Size()
	if n < 0 {
		return nil, tenon.NewError(tenon.ErrShape, "grad.Jacobian", fmt.Sprintf("the result's size is not known: %s", tenon.String(y.Spec())))
	}
	if n == 0 {
		return ops.Zeros(x.DType(), append(y.Shape().Dims(), x.Shape().Dims()...)), nil
	}
	basis := ops.Reshape(ops.Eye(y.DType(), n, n), append([]int{n}, y.Shape().Dims()...))
	rows, err := batching.Run("grad.Jacobian", func(ct tensor.Tensor) tensor.Tensor { return tenon.Must(back(ct)) }, basis)
	if errors.Is(err, tenon.ErrUnsupported) { // an operation that has to look at one cotangent
		each := make([]tensor.Tensor, n)
		for i := range each {
			if each[i], err = back(ops.Gather(basis, int64(i), 0)); err != nil {
				return nil, err
			}
		}
		rows = ops.Stack(each, 0)
	} else if err != nil {
		return nil, err
	}
	return ops.Reshape(rows, append(y.Shape().Dims(), x.Shape().Dims()...)), nil
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
