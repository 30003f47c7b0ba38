package saved

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/tensor"
)

// Parameters returns the values of the variables whose elements are floating, by their
// paths: what is trained, the floating components of Values among them. Together with [Func.CallWith] they fine-tune a model by grad, or
// by the trainers of package train, whose parameters they are:
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

// SetParameters assigns values to variables by their paths: all or, where one does not
// fit, none.
func (m *Model) SetParameters(values map[string]tensor.Tensor) error {
	for path, t := range values {
		x := m.named(path)
		if x == nil {
			return modelError(tenon.ErrNotFound, path, "there is no such variable")
		}
		if !tenon.Compatible(t.Spec(), x.v.Spec()) {
			return modelError(tenon.ErrDType, path, "the variable is %s, the value %s", tenon.String(x.v.Spec()), tenon.String(t.Spec()))
		}
	}
	for path, t := range values {
		if err := m.named(path).v.Assign(t); err != nil {
			return err
		}
	}
	return nil
}

// CallWith is [Func.Call] with other values for the variables of some paths, which may be
// arguments of a gradient or of a traced function. The variables stay as they are, but for
// those that the function assigns to.
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
					Msg: fmt.Sprintf("the variable is %s, the value %s", tenon.String(c.variable.v.Spec()), tenon.String(t.Spec()))}
			}
			in = append(in, t)
			used++
		}
	}
	if used == 0 && len(variables) > 0 {
		return nil, &tenon.Error{Kind: tenon.ErrNotFound, Op: f.name, Line: source.Line(), Msg: "the function reads none of the variables that are given"}
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

// inline runs the graph where the caller is, a trace for instance, and has its effects.
func (v *variant) inline(in []tensor.Tensor) []tensor.Tensor {
	out, err := v.graph.Inline(in)
	tenon.Throw(err)
	n := len(out) - len(v.effects)
	for i, e := range v.effects {
		tenon.Throw(e.have(out[n+i]))
	}
	return out[:n]
}
