package nest_test

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/tensor"
)

type word string

// Maps from strings to slices are made without reflection and their slices share memory:
// neither may show.
func TestMapsOfSlices(t *testing.T) {
	leaf := func(i int) tensor.Tensor { return tensor.Scalar(i) }
	large := map[word][][2]tensor.Tensor{}
	for i := range 100 {
		large[word(fmt.Sprint("key", i))] = [][2]tensor.Tensor{{leaf(i), leaf(-i)}, {leaf(2 * i), nil}}
	}
	for name, x := range map[string]any{
		"many keys of a named type": large,
		"nothing":                   map[string][]tensor.Tensor{},
		"nil":                       map[string][]tensor.Tensor(nil),
		"nil and empty slices":      map[string][]tensor.Tensor{"a": nil, "b": {}, "c": {leaf(1)}},
		"maps in slices in maps": map[string][]map[string][]any{
			"a": {{"x": {leaf(1), leaf(2)}, "y": nil}, nil},
			"b": {{"z": {map[string][]any{"deep": {leaf(3)}}}}},
		},
		"slices of different types": struct {
			A map[string][]tensor.Tensor
			B map[string][][]tensor.Tensor
		}{map[string][]tensor.Tensor{"a": {leaf(1), leaf(2)}}, map[string][][]tensor.Tensor{"b": {{leaf(3)}, {leaf(4)}}, "c": {{leaf(5)}}}},
		"leaves of no size": map[string][]struct{}{"a": {{}, {}}, "b": {{}}},
	} {
		for range 3 { // the later ones know what the first needed
			leaves, err := nest.Flatten(x, nest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			y, err := nest.Pack(x, leaves, nest.Options{})
			runtime.GC()
			if err != nil || !reflect.DeepEqual(x, y) {
				t.Errorf("%s: got %v, %v, want %v", name, y, err, x)
			}
		}
	}
	small := map[string][]tensor.Tensor{"a": {leaf(1), leaf(2)}, "b": {leaf(3)}, "c": {leaf(4), leaf(5)}}
	for range 3 {
		leaves, _ := nest.Flatten(small, nest.Options{})
		y, err := nest.Pack(small, leaves, nest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for k := range y {
			y[k] = append(y[k], leaf(100)) // belongs to this slice alone
		}
		for i := range 50 {
			y[fmt.Sprint("new", i)] = []tensor.Tensor{leaf(i)}
		}
		runtime.GC()
		for k, want := range small {
			if got := y[k]; len(got) != len(want)+1 || !reflect.DeepEqual(got[:len(want)], want) || tensor.Item[int](got[len(want)]) != 100 {
				t.Errorf("%s: got %v", k, got)
			}
		}
		if len(y) != 53 || tensor.Item[int](y["new49"][0]) != 49 {
			t.Errorf("got %v", y)
		}
	}
}

// TestRuns: memory of tensors only is walked as a whole, with the paths of a walk by steps.
func TestRuns(t *testing.T) {
	type pair struct {
		A tensor.Tensor
		B [2]tensor.Tensor
	}
	leaf := func(i int) tensor.Tensor { return tensor.Scalar(i) }
	full := func(i int) pair { return pair{leaf(i), [2]tensor.Tensor{leaf(i + 1), leaf(i + 2)}} }
	x := map[string][]pair{"b": {full(10), {nil, [2]tensor.Tensor{nil, leaf(20)}}}, "a": {full(0)}, "c": nil, "d": {}}
	for name, v := range map[string]any{"a map": x, "in a struct": struct{ X, Y map[string][]pair }{X: x}, "a struct": full(3), "slices": [][]pair{x["b"], nil, {}}} {
		leaves, err := nest.Flatten(v, nest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, slow, _ := nest.FlattenWithPaths(v, nest.Options{}); !reflect.DeepEqual(leaves, slow) {
			t.Errorf("%s: got %v, step by step %v", name, leaves, slow)
		}
		if y, err := nest.Pack(v, leaves, nest.Options{}); err != nil || !reflect.DeepEqual(y, v) {
			t.Errorf("%s: got %v, %v", name, y, err)
		}
	}
	leaves, _ := nest.Flatten(x, nest.Options{})
	for _, c := range []struct {
		leaves []any
		where  string
	}{
		{leaves[:2], "a[0].B[1]"},
		{leaves[:6], "b[1].B[1]"},
		{append(slices.Clone(leaves[:4]), "text", leaves[5], leaves[6]), "b[0].B[0]"},
		{append(slices.Clone(leaves), leaves[0]), ""},
	} {
		var e *tenon.Error
		if y, err := nest.Pack(x, c.leaves, nest.Options{}); !errors.As(err, &e) || e.Where != c.where || y != nil {
			t.Errorf("%v: got %v, %v, want an error at %s", c.leaves, y, err, c.where)
		}
	}
	if y, err := nest.Pack(map[string][]pair(nil), nil, nest.Options{}); err != nil || y != nil {
		t.Errorf("nil: got %v, %v", y, err)
	}
}
