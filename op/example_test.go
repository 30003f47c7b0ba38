package op_test

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// An operation has parameters, a rule for the Specs of its results, and a kernel.
func Example() {
	double := op.Register(&op.Op{
		Name: "example.double", Doc: "Twice x.", Statement: op.Statement{Axes: op.Map}, Results: 1,
		Params: []op.Param{{Name: "x"}},
		Infer:  func(c *op.Call) ([]tenon.Spec, error) { return []tenon.Spec{c.Value(0).Spec()}, nil },
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			out, elems := tensor.Make[int64](c.Tensor(0).Shape())
			for i, x := range tensor.Data[int64](c.Value(0)) {
				elems[i] = 2 * x
			}
			return []tensor.Tensor{out}, nil
		},
	})
	defer op.Unregister(double)
	fmt.Println(op.Eval(double, []int64{1, 2}))
	fmt.Print(op.Explain(double, 21))
	// Output:
	// [2 4] int64[2]
	// example.double:
	//   1. the kernel answered
}
