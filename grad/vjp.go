package grad

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// VJPTensors is the vector-Jacobian product of a function of flat lists of
// tensors: it returns the cotangents of the floating-point inputs, in order, with
// zeros where the outputs do not depend on them. A nil cotangent of an output
// means zero.
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
// returns the outputs and a cotangent for each floating-point input, nil for the
// others.
func vjpTensors(inputs []tensor.Tensor, f func([]tensor.Tensor) ([]tensor.Tensor, error), seed func(out []tensor.Tensor) ([]tensor.Tensor, error)) (out, in []tensor.Tensor, err error) {
	p, err := pull(inputs, f)
	if err != nil {
		return nil, nil, err
	}
	cts, err := seed(p.out)
	if err != nil {
		return nil, nil, err
	}
	in, err = p.back(cts)
	return p.out, in, err
}

// pullback is a run of a function on a tape, from which the backward pass can start any number of
// times.
type pullback struct {
	tape    *tape
	vars    []*variable // of the inputs; nil for those that are not floating-point
	results []tensor.Tensor
	out     []tensor.Tensor // the results, without the tape
}

// pull runs f on a tape.
func pull(inputs []tensor.Tensor, f func([]tensor.Tensor) ([]tensor.Tensor, error)) (*pullback, error) {
	p := &pullback{tape: newTape(), vars: make([]*variable, len(inputs))}
	args := make([]tensor.Tensor, len(inputs))
	for i, x := range inputs {
		if args[i] = x; x.DType().IsDifferentiable() {
			p.vars[i] = p.tape.variable(x)
			args[i] = p.vars[i]
		}
	}
	var err error
	if p.results, err = call(f, args); err != nil {
		return nil, err
	}
	p.tape.ended = true
	p.out = make([]tensor.Tensor, len(p.results))
	for i, r := range p.results {
		if p.out[i] = r; isOn(r, p.tape) {
			p.out[i] = r.(*variable).primal
		}
	}
	return p, nil
}

// back returns a cotangent for each floating-point input, and nil for the others, given those of
// the results, where nil means zero.
func (p *pullback) back(cts []tensor.Tensor) ([]tensor.Tensor, error) {
	if len(cts) != len(p.results) {
		return nil, tenon.NewError(tenon.ErrInvalid, "grad.VJP", fmt.Sprintf("got %d cotangents for %d results", len(cts), len(p.results)))
	}
	seeds := map[*variable]tensor.Tensor{}
	for i, r := range p.results {
		if cts[i] == nil || !isOn(r, p.tape) {
			continue
		}
		v := r.(*variable)
		if !cts[i].Shape().CompatibleWith(v.Shape()) || cts[i].DType() != v.DType() {
			return nil, tenon.NewError(tenon.ErrShape, "grad.VJP", fmt.Sprintf("cotangent %d is %v, the result is %v", i, tenon.String(cts[i].Spec()), tenon.String(v.Spec())))
		}
		if old, ok := seeds[v]; ok {
			seeds[v] = ops.Add(old, cts[i])
		} else {
			seeds[v] = cts[i]
		}
	}
	all, err := p.tape.back(seeds)
	if err != nil {
		return nil, err
	}
	in := make([]tensor.Tensor, len(p.vars))
	for i, v := range p.vars {
		if v == nil {
			continue
		}
		if in[i] = all[v.id]; in[i] == nil {
			if err := catch(func() { in[i] = ops.ZerosLike(v.primal) }); err != nil {
				return nil, err
			}
		}
	}
	return in, nil
}

func isOn(x tensor.Tensor, t *tape) bool {
	v, ok := x.(*variable)
	return ok && v.tape == t
}

func call(f func([]tensor.Tensor) ([]tensor.Tensor, error), args []tensor.Tensor) (out []tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	return f(args)
}
