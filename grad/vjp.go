package grad

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// VJPTensors is the vector-Jacobian product of a function of flat lists of
// tensors: it returns the cotangents of those inputs that are floating, in
// order, zeros where the outputs do not depend on them. A nil cotangent of an
// output is zero.
func VJPTensors(inputs, cts []tensor.Tensor, f func([]tensor.Tensor) ([]tensor.Tensor, error)) ([]tensor.Tensor, error) {
	_, in, err := vjpTensors(inputs, f, func([]tensor.Tensor) ([]tensor.Tensor, error) { return cts, nil })
	if err != nil {
		return nil, err
	}
	var out []tensor.Tensor
	for _, ct := range in {
		if ct != nil {
			out = append(out, ct)
		}
	}
	return out, nil
}

// vjpTensors runs f on a tape, asks seed for the cotangents of the outputs, and
// returns the outputs and a cotangent for each floating input; nil for others.
func vjpTensors(inputs []tensor.Tensor, f func([]tensor.Tensor) ([]tensor.Tensor, error), seed func(out []tensor.Tensor) ([]tensor.Tensor, error)) (out, in []tensor.Tensor, err error) {
	t := newTape()
	vars := make([]*variable, len(inputs))
	args := make([]tensor.Tensor, len(inputs))
	for i, x := range inputs {
		if args[i] = x; x.DType().IsDifferentiable() {
			vars[i] = t.variable(x)
			args[i] = vars[i]
		}
	}
	res, err := call(f, args)
	if err != nil {
		return nil, nil, err
	}
	out = make([]tensor.Tensor, len(res))
	for i, r := range res {
		if out[i] = r; isOn(r, t) {
			out[i] = r.(*variable).primal
		}
	}
	cts, err := seed(out)
	if err != nil {
		return nil, nil, err
	}
	if len(cts) != len(res) {
		return nil, nil, tenon.NewError(tenon.ErrInvalid, "grad.VJP", fmt.Sprintf("got %d cotangents for %d results", len(cts), len(res)))
	}
	seeds := map[*variable]tensor.Tensor{}
	for i, r := range res {
		if cts[i] == nil || !isOn(r, t) {
			continue
		}
		v := r.(*variable)
		if !cts[i].Shape().CompatibleWith(v.Shape()) || cts[i].DType() != v.DType() {
			return nil, nil, tenon.NewError(tenon.ErrShape, "grad.VJP", fmt.Sprintf("cotangent %d is %v, the result is %v", i, tenon.String(cts[i].Spec()), tenon.String(v.Spec())))
		}
		if old, ok := seeds[v]; ok {
			seeds[v] = ops.Add(old, cts[i])
		} else {
			seeds[v] = cts[i]
		}
	}
	all, err := t.back(seeds)
	if err != nil {
		return nil, nil, err
	}
	in = make([]tensor.Tensor, len(inputs))
	for i, v := range vars {
		if v == nil {
			continue
		}
		if in[i] = all[v.id]; in[i] == nil {
			if err := catch(func() { in[i] = ops.ZerosLike(v.primal) }); err != nil {
				return nil, nil, err
			}
		}
	}
	return out, in, nil
}

func isOn(x tensor.Tensor, t *tape) bool {
	v, ok := x.(*variable)
	return ok && v.tape == t
}

func call(f func([]tensor.Tensor) ([]tensor.Tensor, error), args []tensor.Tensor) (out []tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	return f(args)
}
