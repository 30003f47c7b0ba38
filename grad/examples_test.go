package grad_test

import (
	"fmt"

	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

func cube(x tensor.Tensor) tensor.Tensor { return ops.Mul(x, ops.Mul(x, x)) }

// How a cotangent of the result comes back, as often as one likes, and how a change of the argument goes through.
func ExampleVJP() {
	x := tensor.Tensor(tensor.Of([]float64{1, 2}))
	y, back, err := grad.VJP(cube, x)
	fmt.Println(y, err)
	fmt.Println(back(tensor.Of([]float64{1, 0})))
	fmt.Println(back(tensor.Of([]float64{0, 1})))
	_, change, err := grad.JVP(cube, x, tensor.Tensor(tensor.Of([]float64{1, 1})))
	fmt.Println(change, err)
	// Output:
	// [1. 8.] float64[2] <nil>
	// [3. 0.] float64[2] <nil>
	// [ 0. 12.] float64[2] <nil>
	// [ 3. 12.] float64[2] <nil>
}

// What lies between x and the result is not kept but computed again on the way back.
func ExampleCheckpoint() {
	f := grad.Checkpoint(func(x tensor.Tensor) tensor.Tensor { return cube(cube(x)) })
	fmt.Println(grad.Of(func(x tensor.Tensor) tensor.Tensor { return ops.Sum(f(x)) })(tensor.Scalar(1.0)))
	// Output:
	// 9.0 float64[]
}

// Lists of tensors, for packages that build on gradients.
func ExampleVJPTensors() {
	x, y := tensor.Tensor(tensor.Scalar(2.0)), tensor.Tensor(tensor.Scalar(3.0))
	fmt.Println(grad.VJPTensors([]tensor.Tensor{x, y}, []tensor.Tensor{tensor.Scalar(1.0)}, func(in []tensor.Tensor) ([]tensor.Tensor, error) {
		return []tensor.Tensor{ops.Mul(in[0], in[1])}, nil
	}))
	// Output:
	// [3.0 float64[] 2.0 float64[]] <nil>
}
