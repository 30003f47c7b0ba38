package layers_test

import (
	"fmt"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/named/layers"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// A layer goes from some dimensions to others, by their names, and leaves all others alone;
// its gradient is a layer of the same type.
func Example() {
	sizes := layers.Sizes{Model{}.Of(8), Head{}.Of(2), Rep{}.Of(4)}
	k := ops.RandomKeys(ops.RandomKey(1), 2)
	split := layers.NewLinear[Model, Heads](k[0], sizes, layers.LinearOptions{})

	word := named.Ones(dtype.Float64, Model{}.Of(8))
	text := named.Ones(dtype.Float64, Batch{}.Of(3), Seq{}.Of(5), Model{}.Of(8))
	fmt.Println(split.Apply(word).Dims())
	fmt.Println(split.Apply(text).Dims())

	g := grad.Of(func(l layers.Linear[Model, Heads]) tensor.Tensor { return ops.Sum(l.Apply(text)) })(split)
	fmt.Println(g.Weight.Spec())
	// Output:
	// Head, Rep
	// Batch, Seq, Head, Rep
	// float32{Model:8 Head:2 Rep:4}
}
