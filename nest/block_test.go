package nest_test

import (
	"fmt"
	"reflect"
	"runtime"
	"testing"

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
