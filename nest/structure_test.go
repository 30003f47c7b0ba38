package nest_test

import (
	"slices"
	"testing"

	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/tensor"
)

// TestStructureNumber: the number agrees with Same for every pair of structures.
func TestStructureNumber(t *testing.T) {
	x, y := tensor.Of([]float32{1}), tensor.Of([]float64{1, 2})
	type pair struct{ A, B any }
	structures := []any{
		x, y, nil, []any{x}, []any{y}, []any{x, nil}, []any{nil, x}, []any{x, y}, [2]any{x, y}, []any{[]any{x}, []any{}}, []any{[]any{}, []any{x}},
		[]any{[]any{}, x}, map[string]any{"a": x}, map[string]any{"b": x}, map[string]any{"a": x, "b": y}, map[string]any{"a": y, "b": x},
		map[int]any{1: x}, map[int]any{2: x}, pair{x, y}, pair{y, []any{x}}, pair{nil, x}, &pair{x, y}, []tensor.Tensor{x, y}, []tensor.Tensor{x, nil},
		[]tensor.Tensor{nil, x}, []tensor.Tensor{nil, x, nil}, [2]tensor.Tensor{nil, x}, [2]tensor.Tensor{x, nil}, [][2]tensor.Tensor{{x, nil}, {x, x}}, [][2]tensor.Tensor{{nil, x}, {x, x}},
		[][2]tensor.Tensor{{x, x}, {nil, x}}, []struct{ A, B tensor.Tensor }{{x, nil}, {x, x}}, []struct{ A, B tensor.Tensor }{{x, x}, {x, nil}}, struct{ A, B tensor.Tensor }{x, nil}, struct{ A, B tensor.Tensor }{nil, x},
		map[string][][2]tensor.Tensor{"a": {{x, nil}}}, map[string][][2]tensor.Tensor{"a": {{nil, x}}}, map[string][][2]tensor.Tensor{"a": {{x, x}}}, map[string][][2]tensor.Tensor{"b": {{x, x}}},
		map[string][]tensor.Tensor{"a": nil, "b": {x}}, map[string][]tensor.Tensor{"a": {}, "b": {x}},
		map[string][]tensor.Tensor{"a": {x}, "b": {x, y}}, map[string][]tensor.Tensor{"a": {x, y}, "b": {x}}, []any{pair{x, y}}, []any{&pair{x, y}},
	}
	for i, a := range structures {
		_, na, err := nest.FlattenWithStructure([]any{a})
		if err != nil {
			t.Fatal(err)
		}
		visitsAll(t, []any{a})
		for j, b := range structures {
			_, nb, err := nest.FlattenWithStructure([]any{b})
			if err != nil {
				t.Fatal(err)
			}
			if same := nest.Same([]any{a}, []any{b}, nest.Options{}) == nil; same && na != nb && i != j {
				t.Logf("%d and %d are the same and have different numbers, which costs time only", i, j)
			} else if !same && na == nb {
				t.Errorf("structures %d and %d differ and have the number %d", i, j, na)
			}
		}
	}
	type labelled struct {
		X tensor.Tensor
		L string `tenon:"static"`
	}
	if _, n, err := nest.FlattenWithStructure(labelled{x, "a"}); n != 0 || err != nil {
		t.Errorf("static data: %d, %v", n, err)
	}
}

// visitsAll checks that VisitTensors meets the leaves of a structure of tensors in order.
func visitsAll(t *testing.T, x any) {
	t.Helper()
	want, number, err := nest.FlattenWithStructure(x)
	if err != nil {
		t.Fatal(err)
	}
	var got []any
	n := nest.VisitTensors(x, func(run []tensor.Tensor) bool {
		for _, r := range run {
			got = append(got, r)
		}
		return true
	})
	if n != number || !slices.Equal(got, want) {
		t.Errorf("%v: visited %v with the number %d, the leaves are %v with %d", x, got, n, want, number)
	}
	calls := 0
	if n := nest.VisitTensors(x, func([]tensor.Tensor) bool { calls++; return false }); calls != min(1, len(want)) || len(want) > 0 && n != 0 {
		t.Errorf("%v: %d calls after a refusal, the number %d", x, calls, n)
	}
}

func TestVisitTensorsRefusesOtherLeaves(t *testing.T) {
	x := tensor.Of([]float32{1})
	cyclic := []any{x, nil}
	cyclic[1] = cyclic
	for _, bad := range []any{[]any{x, 3}, map[string]any{"a": x, "b": "text"}, []float32{1}, map[float64]any{1: x}, cyclic} {
		if n := nest.VisitTensors(bad, func([]tensor.Tensor) bool { return true }); n != 0 {
			t.Errorf("the number is %d", n)
		}
	}
}
