package tenon_test

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Every Spec in an encoding gets an axis of batches, whatever the encoding is of.
func ExampleMapSpecs() {
	e := tenon.Tuple{tenon.Str("pair"), tenon.SpecOf{Spec: tensor.NewSpec(dtype.Int64, shape.Of())}, tenon.SpecOf{Spec: tensor.NewSpec(dtype.Float32, shape.Of(3))}}
	batched, err := tenon.MapSpecs(e, func(s tenon.Spec) (tenon.Spec, error) {
		t := s.(*tensor.Spec)
		return tensor.NewSpec(t.DType(), shape.Concat(shape.Of(32), t.Shape())), nil
	}, nil)
	for _, x := range batched.(tenon.Tuple)[1:] {
		fmt.Println(x.(tenon.SpecOf).Spec)
	}
	fmt.Println(err)
	// Output:
	// int64[32]
	// float32[32, 3]
	// <nil>
}
