// Command first adds two tensors and prints the sum: the smallest program there is.
package main

import (
	"fmt"

	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

func main() {
	x := tensor.Of([]float32{1, 2, 3})
	fmt.Println(ops.Add(x, x))
}
