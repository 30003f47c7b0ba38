package codec_test

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext/codec"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A place for a tensor, which may be empty, reads the Spec of one and refuses others.
func ExampleReadPlace() {
	var specs []tenon.Spec
	number := tensor.NewSpec(dtype.Int64, shape.Of())
	fmt.Println(codec.ReadPlace(tenon.SpecOf{Spec: number}, number.TypeName(), "", true, false, &specs))
	fmt.Println(codec.ReadPlace(tenon.Nil{}, number.TypeName(), "", true, false, &specs))
	fmt.Println(specs)
	fmt.Println(codec.ReadPlace(tenon.SpecOf{Spec: number}, "example.com/other", "", true, false, &specs) != nil)
	// Output:
	// <nil>
	// <nil>
	// [int64[] <nil>]
	// true
}
