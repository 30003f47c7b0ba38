package nn

import (
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

// Variables returns a model in which a variable stands for each floating tensor of m, and
// holds it. Fields of the model that are to become variables have an interface type such
// as tensor.Tensor, as those of the layers do. What is made of tensors, such as ragged rows,
// records or a derived type, has variables inside.
//
// A traced function reads the variables in each call. For gradients parameters are an
// argument: [Frozen] ones, for instance.
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

// Frozen returns a model that has what the variables of m hold now in their place.
func Frozen[M any](m M) (M, error) {
	return nest.Map(func(l []any) (any, error) {
		if v, ok := l[0].(*state.Variable); ok {
			return v.Value(), nil
		}
		return l[0], nil
	}, nest.Options{Expand: true}, m)
}

// Assign sets the variables of a model to the tensors in their places in another, which
// has the same structure.
func Assign[M any](m, to M) error {
	_, err := nest.Map(func(l []any) (any, error) {
		if v, ok := l[0].(*state.Variable); ok {
			return l[0], v.Assign(l[1])
		}
		return l[0], nil
	}, nest.Options{Expand: true}, m, to)
	return err
}

// Size returns the number of floating elements of a model: of its parameters.
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
