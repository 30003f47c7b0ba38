package masked_test

import (
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/spectest"
	"github.com/tenonml/tenon/tensor"
)

// Boxed values that are stacked are the boxed form of the batch, and the other way round.
func TestBox(t *testing.T) {
	a := tenon.Must(masked.New([]float64{1, 2}, []bool{true, false}))
	b := tenon.Must(masked.New([]float64{3, 4}, []bool{true, true}))
	rows := tenon.Must(masked.New(ragged.FromSlices([][]float64{{1}, {2, 3}}), ragged.FromSlices([][]bool{{true}, {false, true}})))
	spectest.Laws(t, spectest.Options{}, a, b, rows)

	s := a.Spec().(*masked.Spec)
	many := tenon.Must(s.Batched(2)).(*masked.Spec)
	stacked := ops.Stack([]T{tenon.Must(s.Box(a, 1))[0].(T), tenon.Must(s.Box(b, 1))[0].(T)}, 0)
	batch := tenon.Must(many.Unbox([]tenon.Value{stacked}))
	if want := tenon.Must(ext.Stack(a, b)); !tensor.Equal(batch, want, tensor.EqualOptions{}) {
		t.Errorf("got %v, want %v", batch, want)
	}
	boxed := tenon.Must(many.Box(batch, 2))[0].(T)
	for i, want := range []*masked.Tensor{a, b} {
		if got := tenon.Must(s.Unbox([]tenon.Value{ops.Index(boxed, i)})); !tensor.Equal(got, want, tensor.EqualOptions{}) {
			t.Errorf("row %d: got %v, want %v", i, got, want)
		}
	}
}
