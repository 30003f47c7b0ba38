package tensor_test

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A literal whose rows differ in length is its elements, and offsets for each depth of lists.
func ExampleLists() {
	elements, splits, err := tensor.Lists([][]int{{1, 2}, {}, {3}}, tensor.Options{Int: dtype.Int32})
	fmt.Println(elements, splits, err)
	// Output:
	// [1 2 3] int32[3] [[0 3] [0 2 2 3]] <nil>
}

// Scalars of Go, integers and floating ones, are one tensor of the type that holds them.
func ExampleFromScalars() {
	fmt.Println(tensor.FromScalars([]any{1, 2.5, int64(3), 4}, shape.Of(2, 2), tensor.Options{}))
	// Output:
	// [[1.  2.5]
	//  [3.  4. ]] float64[2, 2] <nil>
}

// Pair is two numbers, which are printed as other Values are.
type Pair struct{ A, B tensor.Tensor }

// Spec returns the Spec of the first number.
func (p Pair) Spec() tenon.Spec { return p.A.Spec() }

// Format prints the pair by the verbs of other Values.
func (p Pair) Format(s fmt.State, verb rune) {
	tensor.Format(s, verb, p, func(verb string) string { return fmt.Sprintf("("+verb+" and "+verb+")", p.A, p.B) })
}

// What Format is given is the text of the parts by a verb.
func ExampleFormat() {
	fmt.Printf("%v, %+v\n", Pair{tensor.Scalar(1.25), tensor.Scalar(2.5)}, Pair{tensor.Scalar(1.25), tensor.Scalar(2.5)})
	// Output:
	// (1.25 float64[] and 2.5 float64[]), (1.25 float64[] and 2.5 float64[])
}
