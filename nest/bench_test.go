package nest_test

import (
	"testing"

	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/tensor"
)

// sixty returns the structure of the workload spec_nest: a map of four lists of
// five triples of tensors.
func sixty() map[string][][3]tensor.Tensor {
	m := map[string][][3]tensor.Tensor{}
	for _, k := range []string{"a", "b", "c", "d"} {
		for range 5 {
			var t [3]tensor.Tensor
			for i := range t {
				t[i] = tensor.Of([]float32{1, 2, 3, 4})
			}
			m[k] = append(m[k], t)
		}
	}
	return m
}

func BenchmarkFlatten(b *testing.B) {
	x := sixty()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := nest.Flatten(x, nest.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFlattenPack(b *testing.B) {
	x := sixty()
	b.ReportAllocs()
	for b.Loop() {
		leaves, err := nest.Flatten(x, nest.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err = nest.Pack(x, leaves, nest.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMap(b *testing.B) {
	x := sixty()
	f := func(l []any) (any, error) { return l[0], nil }
	b.ReportAllocs()
	for b.Loop() {
		if _, err := nest.Map(f, nest.Options{}, x); err != nil {
			b.Fatal(err)
		}
	}
}
