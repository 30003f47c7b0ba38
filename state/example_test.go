package state_test

import (
	"fmt"

	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

func ExampleNew() {
	v, err := state.New(tensor.Of([]float32{1, 2}))
	if err != nil {
		panic(err)
	}
	if err := v.Assign(tensor.Of([]float32{3, 4})); err != nil {
		panic(err)
	}
	fmt.Println(v.Value())
	fmt.Println(v.Assign(tensor.Of([]float32{5})) != nil) // another shape
	// Output:
	// [3. 4.] float32[2]
	// true
}
