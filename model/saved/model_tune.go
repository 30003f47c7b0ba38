package saved

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/tensor"
)

// Parameters returns the values of the floating-point variables, including those that are components of Values, by
// path. Together with [Func.CallWith], they can be used to fine-tune a model with package grad, or as the parameters of
// package train:
//
//	p := m.Parameters()
//	loss := func(p map[string]tensor.Tensor, x Batch) tensor.Tensor {
//		out, err := m.Function("loss").CallWith(p, x)
//		…
//	}
//	_, g := grad.ValueAndGrad(loss)(p, batch)
//	err := m.SetParameters(p)
func (m *Model) Parameters() map[string]tensor.Tensor {
	out := map[string]tensor.Tensor{}
	for _, x := range m.variables {
		if t := x.v.Value(); t.DType().IsDifferentiable() {
			out[x.path] = t
		}
	}
	return out
}

// SetParameters assigns values to variables by path: to all of them or, if one does not fit, to
// none.
func (m *Model) SetParameters(values map[string]tensor.Tensor) error {
	for path, t := range values {
		x := m.named(path)
		if x == nil {
			return modelError(tenon.ErrNotFound, path, "there is no such variable")
		}
		if !tenon.Compatible(t.Spec(), x.v.Spec()) {
			return modelError(tenon.ErrDType, path, "the variable is %s, but the value is %s", tenon.String(x.v.Spec()), tenon.String(t.Spec()))
		}
	}
	for path, t := range values {
		if err := m.named(path).v.Assign(t); err != nil {
			return err
		}
	}
	return nil
}

// CallWith is [Func.Call] with other values for variables at some paths. The values may be
// arguments of a gradient or of a traced function. The variables do not change, except those to
// which the function assigns.
func (f *Func) CallWith(variables map[string]tensor.Tensor, args ...any) ([]any, error) {
	v, in, err := f.bind(args)
	if err != nil {
		return nil, err
	}
	used := 0
	for _, c := range v.captures {
		switch {
		case c.variable == nil:
			in = append(in, c.constant)
		case variables[c.variable.path] == nil:
			in = append(in, c.variable.v)
		default:
			t := variables[c.variable.path]
			if !tenon.Compatible(t.Spec(), c.variable.v.Spec()) {
				return nil, &tenon.Error{Kind: tenon.ErrDType, Op: f.name, Where: c.variable.path, Line: source.Line(),
					Msg: fmt.Sprintf("the variable is %s, but the value is %s", tenon.String(c.variable.v.Spec()), tenon.String(t.Spec()))}
			}
			in = append(in, t)
			used++
		}
	}
	if used == 0 && len(variables) > 0 {
		return nil, &tenon.Error{Kind: tenon.ErrNotFound, Op: f.name, Line: source.Line(), Msg: "the function reads none of the given variables"}
	}
	out, err := tenon.Try(func() []tensor.Tensor { return v.inline(in) })
	if err != nil {
		return nil, err
	}
	leaves, err := packed(v.results, out)
	if err != nil {
		return nil, err
	}
	return built(v.results, leaves)
}

// inline runs the graph in the context of the caller, such as a trace, with its effects.
func (v *variant) inline(in []tensor.Tensor) []tensor.Tensor {
	out, err := v.graph.Inline(in)
	tenon.Throw(err)
	n := len(out) - len(v.effects)
	for i, e := range v.effects {
		tenon.Throw(e.have(out[n+i]))
	}
	return out[:n]
}
