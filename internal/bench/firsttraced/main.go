// Command firsttraced adds two tensors in a traced function and prints the sum.
package main

import (
	"fmt"

	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

func main() {
	add := function.New(func(x, y tensor.Tensor) tensor.Tensor { return ops.Add(x, y) })
	x := tensor.Of([]float32{1, 2, 3})
	fmt.Println(add.Call(x, x))
}
