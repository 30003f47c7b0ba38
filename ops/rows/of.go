package rows

import (
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// A Form is an operation on rows that does to each row what another operation does along an axis.
type Form struct {
	op   *op.Op
	from []int // for each parameter after values and splits, the corresponding one of the other operation
}

// Of returns the row form of an operation along an axis: the operation of the same name in this
// package, which has the same attributes. It returns nil if there is none.
func Of(o *op.Op) *Form {
	r, ok := op.Lookup("ragged." + formName(o))
	if !ok || r.Params[0].Name != "values" || len(r.Params) < 2 || r.Params[1].Name != "splits" || r.Axes != o.Axes {
		return nil
	}
	f := &Form{op: r}
	for _, p := range r.Params[2:] {
		i := o.Param(p.Name)
		if i < 0 {
			return nil
		}
		f.from = append(f.from, i)
	}
	return f
}

// Apply runs the form on rows of values, with the attributes of a call of the other operation.
func (f *Form) Apply(c *op.Call, values, splits tensor.Tensor) tensor.Tensor {
	if len(f.from) == 0 {
		return op.Eval(f.op, values, splits)
	}
	var room [8]any
	return op.Eval(f.op, f.arguments(room[:0], c, values, splits)...)
}

// ApplyN is [Form.Apply] for several results.
func (f *Form) ApplyN(c *op.Call, values, splits tensor.Tensor) []tensor.Tensor {
	var room [8]any
	return op.EvalN(f.op, f.arguments(room[:0], c, values, splits)...)
}

func (f *Form) arguments(args []any, c *op.Call, values, splits tensor.Tensor) []any {
	args = append(args, values, splits)
	for _, i := range f.from {
		args = append(args, c.Args[i])
	}
	return args
}
