package function_test

import (
	"fmt"

	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// A function of one vector answers for all rows of a matrix.
func ExampleVectorize() {
	length := function.Vectorize(func(x tensor.Tensor) tensor.Tensor { return ops.Norm(x, 2) })
	fmt.Println(length(tensor.Of([]float64{3, 4, 6, 8}, 2, 2)))
	// Output:
	// [ 5. 10.] float64[2]
}
