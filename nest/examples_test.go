package nest_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/tensor"
)

// The leaves of a structure, in order, and a structure like it of others.
func ExampleFlatten() {
	one, two, three := tensor.Tensor(tensor.Scalar(1.0)), tensor.Tensor(tensor.Scalar(2.0)), tensor.Tensor(tensor.Scalar(3.0))
	x := map[string][]tensor.Tensor{"a": {one, two}, "b": {three}}
	leaves, err := nest.Flatten(x, nest.Options{})
	fmt.Println(leaves, err)
	y, err := nest.Pack(x, []any{three, two, one}, nest.Options{})
	fmt.Println(y, err)
	parts, err := nest.FlattenUpTo(map[string]int{"a": 0, "b": 0}, map[string]any{"a": []int{1, 2}, "b": 3}, nest.Options{AnyTypes: true})
	fmt.Println(parts, err)
	// Output:
	// [1.0 float64[] 2.0 float64[] 3.0 float64[]] <nil>
	// map[a:[3.0 float64[] 2.0 float64[]] b:[1.0 float64[]]] <nil>
	// [[1 2] 3] <nil>
}

// The tensors of a structure without a copy of any list.
func ExampleVisitTensors() {
	model := dense{W: tensor.Of([]float32{1, 2}), B: tensor.Scalar(float32(3))}
	nest.VisitTensors(model, func(run []tensor.Tensor) bool {
		for _, t := range run {
			fmt.Println(t)
		}
		return true
	})
	// Output:
	// [1. 2.] float32[2]
	// 3.0 float32[]
}

// A promise that texts are written in capitals, which a tag makes for a field.
func ExamplePromise() {
	nest.Promise("case", func(tag string, _ reflect.Type, value any) error {
		if s, ok := value.(string); ok && tag == "upper" && s != strings.ToUpper(s) {
			return errors.New("not in capitals")
		}
		return nil
	})
	type label struct {
		Text string `case:"upper"`
	}
	fmt.Println(nest.Check(label{"ABC"}), nest.Check(label{"abc"}) != nil)
	// Output:
	// <nil> true
}
