package features_test

import (
	"fmt"

	"github.com/tenonml/tenon/learn/features"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/structured"
)

// A schema sees data batch by batch, and then makes an encoder.
func ExampleNewSchema() {
	first := table(rec{"age": 20.0, "town": "Oslo"}, rec{"age": 40.0, "town": "Rome"})
	second := table(rec{"age": 60.0, "town": "Oslo"})
	s, err := features.NewSchema(first.Spec().(*structured.Spec), features.Options{Columns: map[string]features.Column{
		"age": {Scaling: nn.MinMax}, "town": {Kind: features.OneHot},
	}})
	if err != nil {
		panic(err)
	}
	for _, batch := range []*structured.Tensor{first, second} {
		if err := s.Update(batch); err != nil {
			panic(err)
		}
	}
	enc, err := s.Encoder(ops.RandomKey(1))
	fmt.Println(enc.Apply(second), err)
	// Output:
	// [[1. 0. 1. 0.]] float32[1, 4] <nil>
}
