package key_test

import (
	"fmt"

	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/tensor"
)

func ExampleRange() {
	x := tensor.Of([]int64{0, 1, 2, 3, 4, 5})
	fmt.Println(ops.Index(x, key.Range(1, 5, 2)))
	fmt.Println(ops.Index(x, key.From(-2)))
	// Output:
	// [1 3] int64[2]
	// [4 5] int64[2]
}
