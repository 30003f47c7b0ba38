package rows_test

import (
	"fmt"

	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// Rows of different lengths are their values and where each row begins and ends.
func ExampleSoftmax() {
	values, splits := tensor.Of([]float64{0, 0, 5}), tensor.Of([]int64{0, 2, 2, 3})
	fmt.Println(rows.Softmax(values, splits))
	fmt.Println(rows.Reverse(tensor.Of([]string{"a", "b", "c"}), splits))
	// Output:
	// [0.5 0.5 1. ] float64[3]
	// ["b" "a" "c"] string[3]
}
