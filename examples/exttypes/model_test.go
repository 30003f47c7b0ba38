package exttypes_test

import (
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

// squares is the sum of the squares of what floats in a value.
func squares(x tenon.Value) tensor.Tensor {
	sum := tensor.Tensor(tensor.Scalar(0.0))
	for _, l := range must(nest.Flatten(x, expand)) {
		if p := l.(tensor.Tensor); p.DType().IsFloat() {
			sum = ops.Add(sum, ops.Sum(ops.Square(p)))
		}
	}
	return sum
}

// inModel makes the value a parameter of a model whose floating tensors are variables: they are
// read at once and in a traced function, by operations where the value is a tensor, assigned,
// differentiated and frozen.
func inModel(t *testing.T, r row) {
	type model struct{ V tenon.Value }
	m := must(nn.Variables(model{r.a}))
	floats := 0
	for _, l := range must(nest.Flatten(r.a, expand)) {
		if l.(tensor.Tensor).DType().IsFloat() {
			floats++
		}
	}
	if n := len(must(state.Tree(m))); n != floats {
		t.Errorf("%d variables stand for %d floating tensors", n, floats)
	}
	want(t, "frozen", must(nn.Frozen(m)).V, r.a)
	next := r.b
	if !tenon.Compatible(r.b.Spec(), r.a.Spec()) {
		next = r.a
	}
	for i, l := range must(nest.Flatten(r.a, expand)) { // a variable stays in its place among the others
		if !l.(tensor.Tensor).DType().IsFloat() && !tensor.Equal(l.(tenon.Value), must(nest.Flatten(next, expand))[i].(tenon.Value), tensor.EqualOptions{}) {
			next = r.a
		}
	}
	traced := function.New(func() tensor.Tensor { return squares(m.V) })
	for _, v := range []tenon.Value{r.a, next} {
		tenon.Throw(nn.Assign(m, model{v}))
		want(t, "read", squares(m.V), squares(v))
		want(t, "read in a trace", traced.Call(), squares(v))
		if x, ok := v.(tensor.Tensor); ok && x.DType().IsFloat() {
			if y, err := tenon.Try(func() tensor.Tensor { return ops.Neg(x) }); err == nil {
				want(t, "operated on", must(nest.Pack[tenon.Value](y, must(nest.Flatten(ops.Neg(m.V), expand)), expand)), y)
			}
		}
	}
	if floats > 0 {
		g := grad.Of(func(m model) tensor.Tensor { return squares(m.V) })
		want(t, "gradient", g(m).V, g(model{next}).V)
	}
}
