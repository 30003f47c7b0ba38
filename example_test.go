package tenon_test

import (
	"errors"
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Specs form an order, and have a canonical text.
func Example() {
	rows := tensor.NewSpec(dtype.Float32, shape.Of(shape.Unknown, 3))
	two, five := tensor.Of(make([]float32, 6), 2, 3), tensor.Of(make([]float32, 15), 5, 3)
	fmt.Println(tenon.Belongs(two, rows))
	merged, ok := tenon.Merge(two.Spec(), five.Spec())
	fmt.Println(tenon.Equal(merged, rows), ok)
	fmt.Println(tenon.Text(merged))
	back, err := tenon.ParseSpec(tenon.Text(merged))
	fmt.Println(tenon.Equal(back, rows), err)
	// Output:
	// true
	// true true
	// <tensor.Tensor (float32, shape[?, 3])>
	// true <nil>
}

// Try turns what expression functions throw into an error.
func ExampleTry() {
	sum, err := tenon.Try(func() int {
		x := tensor.Of([]int64{1, 2, 3})
		return int(tensor.Item[int64](x)) // has three elements
	})
	fmt.Println(sum, errors.Is(err, tenon.ErrShape))
	// Output:
	// 0 true
}
