package nest_test

import (
	"fmt"

	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/tensor"
)

type dense struct {
	W, B  tensor.Tensor
	Units int `tenon:"static"`
}

func Example() {
	model := map[string][]dense{
		"enc": {{W: tensor.Of([]float32{1, 2}), B: tensor.Scalar(float32(3)), Units: 1}},
		"dec": {{W: tensor.Of([]float32{4}), Units: 1}}, // no bias
	}
	paths, leaves, err := nest.FlattenWithPaths(model, nest.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, p := range paths {
		fmt.Println(p, leaves[i])
	}

	doubled, err := nest.Map(func(l []any) (any, error) {
		x := tensor.Data[float32](l[0].(tensor.Tensor))
		out := make([]float32, len(x))
		for i := range x {
			out[i] = 2 * x[i]
		}
		return tensor.Wrap(out, l[0].(tensor.Tensor).Shape()), nil
	}, nest.Options{}, model)
	fmt.Println(doubled["enc"][0].W, doubled["enc"][0].Units, err)

	doubled["enc"][0].B = nil
	fmt.Println(nest.Same(model, doubled, nest.Options{}) != nil)
	// Output:
	// dec[0].W [4.] float32[1]
	// enc[0].W [1. 2.] float32[2]
	// enc[0].B 3.0 float32[]
	// [2. 4.] float32[2] 1 <nil>
	// true
}
