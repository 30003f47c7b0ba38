package features_test

import (
	"fmt"

	"github.com/tenonml/tenon/learn/features"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/ops"
)

func ExampleFit() {
	people := table(
		rec{"age": 20.0, "town": "Oslo", "pets": list{rec{"kind": "cat"}, rec{"kind": "dog"}}},
		rec{"age": 40.0, "town": "Rome", "pets": list{}},
		rec{"age": 60.0, "town": "Oslo", "pets": list{rec{"kind": "cat"}}},
	)
	enc, err := features.Fit(ops.RandomKey(1), people, features.Options{Columns: map[string]features.Column{
		"age":       {Scaling: nn.MinMax},
		"town":      {Kind: features.OneHot}, // one of the others, Oslo, Rome
		"pets.kind": {Kind: features.OneHot}, // shares of the others, cats, dogs, and log(1 + pets)
	}})
	if err != nil {
		panic(err)
	}
	fmt.Println(enc.Width())
	for _, row := range ops.Unstack(enc.Apply(people), 0) {
		fmt.Printf("%.2f\n", row)
	}
	// Output:
	// 8
	// [0.00 0.00 0.50 0.50 1.10 0.00 1.00 0.00] float32[8]
	// [0.50 0.00 0.00 0.00 0.00 0.00 0.00 1.00] float32[8]
	// [1.00 0.00 1.00 0.00 0.69 0.00 1.00 0.00] float32[8]
}
