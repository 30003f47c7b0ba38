package main

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/tensor"
)

// repeats is the number of operations in a sample of a fixed cost.
const repeats = 1000

func init() { register("spec_nest", specNest) }

// nest60 is the structure of the workload: four lists of five triples.
type nest60 = map[string][][3]tensor.Tensor

func newNest60(leaf func() tensor.Tensor) nest60 {
	m := nest60{}
	for _, k := range []string{"a", "b", "c", "d"} {
		for range 5 {
			m[k] = append(m[k], [3]tensor.Tensor{leaf(), leaf(), leaf()})
		}
	}
	return m
}

func specNest(r *runner) {
	x := newNest60(func() tensor.Tensor { return tensor.Of([]float32{1, 2, 3, 4}) })
	o := nest.Options{}
	r.run(benchCase{name: "flatten_pack", inner: repeats}, func() any {
		var out nest60
		for range repeats {
			out = tenon.Must(nest.Pack(x, tenon.Must(nest.Flatten(x, o)), o))
		}
		return out
	})
	r.run(benchCase{name: "flatten", inner: repeats}, func() any {
		var out []any
		for range repeats {
			out = tenon.Must(nest.Flatten(x, o))
		}
		return out
	})
	identity := func(l []any) (any, error) { return l[0], nil }
	r.run(benchCase{name: "map", inner: repeats}, func() any {
		var out nest60
		for range repeats {
			out = tenon.Must(nest.Map(identity, o, x))
		}
		return out
	})
}
