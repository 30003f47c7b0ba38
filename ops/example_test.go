package ops_test

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Rows are brought to mean 0 and variance 1; then all pairs of them are compared.
func Example() {
	x := tensor.Of([]float64{1, 2, 3, 6, 4, 2}, 2, 3)
	z := ops.Div(ops.Sub(x, ops.MeanKeep(x, -1)), ops.StdKeep(x, -1))
	fmt.Println(tensor.Data[float64](ops.Round(ops.MatMulT(z, z, false, true))))

	_, err := tenon.Try(func() tensor.Tensor { return ops.MatMul(x, z) })
	fmt.Printf("%+v\n", err)
	// Output:
	// [3 -3 -3 3]
	// ops.MatMul(float64[2, 3], float64[2, 3]): inner sizes 3 and 2 differ
	//   at ops/example_test.go:18
	//   did you mean the second operand transposed?
}

func ExampleEinsum() {
	x := tensor.Of([]float64{1, 2, 3, 4}, 2, 2)
	y := tensor.Of([]float64{1, 0, 0, -1}, 2, 2)
	fmt.Println(tensor.Data[float64](ops.Einsum("ij,jk->ki", x, y)))
	fmt.Println(tensor.Data[float64](ops.Einsum("ii", x)))
	// Output:
	// [1 3 -2 -4]
	// [5]
}

func ExampleRandomSplit() {
	key := ops.RandomKey(42)
	keys := ops.RandomSplit(key, 2)
	a := ops.RandomInt(ops.Index(keys, 0), []int{5}, 1, 7, dtype.Int64)
	b := ops.RandomInt(ops.Index(keys, 1), []int{5}, 1, 7, dtype.Int64)
	fmt.Println(tensor.Data[int64](a), tensor.Data[int64](b))
	// Output:
	// [2 2 6 6 4] [4 3 6 6 3]
}
