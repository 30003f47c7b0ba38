package tensor_test

import (
	"fmt"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/tensor"
)

func Example() {
	x := tensor.Of([]float32{1, 2.5, 3, 4}, 2, 2) // shares the slice
	fmt.Println(x)
	fmt.Println(tensor.Data[float32](x))
	fmt.Println(tensor.Of([]string{"a", "b"}))
	fmt.Printf("%.1f\n", x)
	// Output:
	// [[1.  2.5]
	//  [3.  4. ]] float32[2, 2]
	// [1 2.5 3 4]
	// ["a" "b"] string[2]
	// [[1.0 2.5]
	//  [3.0 4.0]] float32[2, 2]
}

func ExampleConst() {
	x, err := tensor.Const([]any{[]any{1, 2}, []any{3, 4.5}}, tensor.Options{})
	fmt.Println(x, err)
	y, err := tensor.Const([]int{1, 2}, tensor.Options{DType: dtype.Uint8})
	fmt.Println(y, err)
	// Output:
	// [[1.  2. ]
	//  [3.  4.5]] float64[2, 2] <nil>
	// [1 2] uint8[2] <nil>
}
