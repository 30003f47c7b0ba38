package main

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/sparse"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	cases.HandleKind("sparse", cases.Kind{
		Decode: func(_ *cases.Case, o cases.Object) (any, error) { return sparseTensor(o) },
		Compare: func(m *cases.Matcher, want cases.Object, got any) error {
			g, ok := got.(*sparse.Tensor)
			if !ok {
				return fmt.Errorf("got a %T, want a sparse tensor", got)
			}
			w, err := sparseTensor(want)
			if err != nil {
				return err
			}
			for i, p := range [][2]tensor.Tensor{{w.DenseShape(), g.DenseShape()}, {w.Indices(), g.Indices()}, {w.Values(), g.Values()}} {
				if err := m.MatchDense(p[0], p[1]); err != nil {
					return fmt.Errorf("%s: %w", [...]string{"dense shape", "indices", "values"}[i], err)
				}
			}
			return nil
		},
	})
	cases.HandleKind("sparse_spec", cases.Kind{
		Decode: func(_ *cases.Case, o cases.Object) (any, error) { return sparseSpec(o), nil },
		Compare: func(_ *cases.Matcher, want cases.Object, got any) error {
			if s, ok := got.(tenon.Spec); !ok || !tenon.Equal(s, sparseSpec(want)) {
				return fmt.Errorf("got %v, want %v", got, sparseSpec(want))
			}
			return nil
		},
	})
}

func sparseSpec(o cases.Object) *sparse.Spec {
	return sparse.NewSpec(cases.DType(o["dtype"]), cases.Shape(o["shape"]))
}

func sparseTensor(o cases.Object) (*sparse.Tensor, error) {
	dims := cases.List[int](cases.Plain(o["dense_shape"]))
	rows := cases.List[any](cases.Plain(o["indices"]))
	at := []int64{}
	for _, r := range rows {
		for _, i := range cases.List[int](r) {
			at = append(at, int64(i))
		}
	}
	values := cases.As[[]any](o["values"])
	return sparse.New(tensor.Of(at, len(rows), len(dims)), cases.Dense(cases.DType(o["dtype"]), shape.Of(len(values)), values), tensor.Vector(dims))
}
