package optable

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// triedElements compares the results of a call with elements with those of the dense call with what
// is stored of them. Where the dense one takes no such numbers, the elements must not do either.
func triedElements(t *testing.T, r Row, col *column, s sample, typed []bool) (own bool, err error) {
	plain := s.Values()
	for i, is := range typed {
		if !is {
			continue
		}
		x := col.of(plain[i].(tensor.Tensor))
		if typed[i] = x != nil; typed[i] {
			plain[i] = x
		}
	}
	if !slices.Contains(typed, true) {
		return false, errSkip
	}
	values := slices.Clone(plain)
	for _, i := range indices(typed) {
		if values[i], err = element.New(plain[i], col.elements); err != nil {
			return false, err
		}
	}
	what := fmt.Sprintf("%s, %s", col.name, describe(Call{Args: s.WithValues(plain).Args}))
	_, refused := s.WithValues(plain).Infer()
	var want []tensor.Tensor
	if refused == nil {
		want, refused = s.WithValues(plain).DoTensors()
	}
	got, own, err := done(t, s.WithValues(values))
	if err != nil || refused != nil {
		if err == nil {
			t.Errorf("%s: elements are done, what is stored is not: %v", what, refused)
		}
		return own, err
	}
	for k := range want {
		x, err := plainOf(got[k])
		if err != nil {
			t.Errorf("%s: result %d: %v", what, k, err)
			return own, nil
		}
		if w := unlike(something(x), something(want[k]), max(col.rounding, 1e-9)); w != "" {
			t.Errorf("%s: result %d: %s", what, k, w)
			return own, nil
		}
	}
	traced(t, r, what, s.Call, typed, values, got)
	return own, nil
}

// something returns numbers with one in place of those that say that there is none: a mean, a greatest or a
// least one of nothing, whose form depends on the type.
func something(x tensor.Tensor) tensor.Tensor {
	if !x.DType().IsReal() || x.DType().Size() < 8 {
		return x
	}
	f := ops.Cast(x, dtype.Float64)
	return ops.Where(ops.Less(ops.Abs(f), 0x1p62), f, 12345.0)
}
