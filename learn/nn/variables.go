package nn

import (
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

// Variables returns a copy of m in which each floating-point tensor is replaced by a variable
// that holds it. Fields that are to become variables must have an interface type such as
// tensor.Tensor, like those of the layers. Values made of tensors, such as ragged rows, records
// or derived types, get variables inside.
//
// A traced function reads the variables in each call. To differentiate, pass the parameters as
// an argument, for instance those that [Frozen] returns.
func Variables[M any](m M) (M, error) {
	return nest.Map(func(l []any) (any, error) {
		t, ok := l[0].(tensor.Tensor)
		if !ok || !t.DType().IsFloat() {
			return l[0], nil
		}
		if _, ok := t.(*state.Variable); ok {
			return t, nil
		}
		return state.New(t)
	}, nest.Options{Expand: true}, m)
}

// Frozen returns a copy of m in which each variable is replaced by the tensor that it holds
// now.
func Frozen[M any](m M) (M, error) {
	return nest.Map(func(l []any) (any, error) {
		if v, ok := l[0].(*state.Variable); ok {
			return v.Value(), nil
		}
		return l[0], nil
	}, nest.Options{Expand: true}, m)
}

// Assign sets the variables of m to the tensors at the same places of to, which must have the
// same structure.
func Assign[M any](m, to M) error {
	_, err := nest.Map(func(l []any) (any, error) {
		if v, ok := l[0].(*state.Variable); ok {
			return l[0], v.Assign(l[1])
		}
		return l[0], nil
	}, nest.Options{Expand: true}, m, to)
	return err
}

// Size returns the number of floating-point elements of a model, that is, of its parameters.
func Size[M any](m M) int {
	leaves, err := nest.Flatten(m, nest.Options{Expand: true})
	if err != nil {
		return 0
	}
	n := 0
	for _, l := range leaves {
		if t, ok := l.(tensor.Tensor); ok && t.DType().IsFloat() {
			n += max(0, t.Shape().Size())
		}
	}
	return n
}
