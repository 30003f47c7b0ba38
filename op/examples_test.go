package op_test

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	_ "github.com/tenonml/tenon/ops"
)

// A stored call of an operation that has another name today.
func ExampleRegisterUpgrade() {
	remove := op.RegisterUpgrade("example.minus", 1, func(s *op.Stored) error {
		s.Op, s.Version = "neg", 1
		return nil
	})
	defer remove()
	o, _, err := op.Current("example.minus", tenon.Dict{})
	fmt.Println(o.Name, err)
	// Output:
	// neg <nil>
}
