package reducing

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/reduce"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// A Reduction is an operation that reduces axes.
type Reduction struct {
	Op     *op.Op // over axes; all forms share its attributes after axis and keepdims
	Result func(d dtype.DType) dtype.DType

	// Kernel returns the kernel for elements of type d and the attributes of a call, or nil if the
	// type has no such reduction.
	Kernel func(c *op.Call, d dtype.DType) reduce.Func

	// Gradient returns the cotangent of x, whose reduction by groups is y.
	Gradient Gradient
}

// A Gradient is written once and used for axes, rows and segments.
type Gradient func(c *op.Call, g Groups, x, y, ct tensor.Tensor) tensor.Tensor

// Groups are the elements that are reduced together: along axes, in rows, or in segments.
type Groups interface {
	// Spread gives each element the value of its group.
	Spread(perGroup tensor.Tensor) tensor.Tensor

	// Count returns the number of elements of each group, which broadcasts to the results.
	Count() any

	// Reduce reduces x, which has the same groups, with another reduction over axes.
	Reduce(by *op.Op, x tensor.Tensor) tensor.Tensor

	// Others returns, for each element, the product of the others in its group.
	Others() tensor.Tensor
}

// All are the reductions of package ops, in the order in which they are defined.
var All []*Reduction

// Of returns the description of a reduction over axes.
func Of(o *op.Op) *Reduction {
	for _, r := range All {
		if r.Op == o {
			return r
		}
	}
	return nil
}

// Elements returns the element types that a reduction accepts, with a name for them.
func Elements(has func(d dtype.DType) bool) *op.Elements {
	for _, e := range []*op.Elements{op.Numbers, op.Reals, op.Floats, op.Integers, op.Smooth, {Name: "no numbers", Has: func(dtype.DType) bool { return false }}} {
		same := true
		for d := dtype.None + 1; d <= dtype.String; d++ {
			same = same && (d == dtype.Bool || has(d) == e.Has(d))
		}
		switch {
		case !same:
		case e.Name == "no numbers":
			return &op.Elements{Name: "booleans", Has: has}
		case has(dtype.Bool):
			return &op.Elements{Name: e.Name + " or booleans", Has: has}
		default:
			return &op.Elements{Name: e.Name, Has: has}
		}
	}
	return &op.Elements{Name: "elements that it is defined for", Has: has}
}
