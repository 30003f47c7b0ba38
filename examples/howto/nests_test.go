package howto

import (
	"errors"
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

func Example_nestsA() {
	type Layer struct {
		W, B  tensor.Tensor
		Units int `tenon:"static"`
	}
	w, b := tensor.Of([]float32{2, 4}), tensor.Of([]float32{6})
	layers := map[string][]Layer{"enc": {{W: w, B: b, Units: 8}}, "dec": {{W: w, Units: 8}}}

	paths, leaves, err := nest.FlattenWithPaths(layers, nest.Options{})
	check(err)
	for i, p := range paths { // maps by key, structs by declaration; the decoder has no B
		fmt.Println(p, leaves[i])
	}
	halved, err := nest.Map(func(l []any) (any, error) { return ops.Mul(l[0], 0.5), nil }, nest.Options{}, layers)
	check(err)
	fmt.Println(halved["enc"][0].W, halved["enc"][0].Units)
	err = nest.Same(layers, map[string][]Layer{"enc": {{W: w, Units: 8}}, "dec": {{W: w, Units: 8}}}, nest.Options{})
	var differs *tenon.Error
	fmt.Println(errors.As(err, &differs), differs.Where, differs.Msg)
	// Output:
	// dec[0].W [2. 4.] float32[2]
	// enc[0].W [2. 4.] float32[2]
	// enc[0].B [6.] float32[1]
	// [1. 2.] float32[2] 8
	// true enc[0].B the first has a leaf, the second nothing
}
