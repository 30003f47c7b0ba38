package ragged_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// TestMapOverRows: a function of one row runs on all rows at once, whatever their
// lengths.
func TestMapOverRows(t *testing.T) {
	x := rag([]float64{3, 4}, nil, []float64{2})
	for _, c := range []struct {
		name string
		f    func(row T) T
		want any
	}{
		{"a number for each row", func(r T) T { return ops.Sum(ops.Mul(r, r)) }, []any{"float64", "[25.  0.  4.] float64[3]"}},
		{"rows", func(r T) T { return ops.Div(r, ops.Maximum(ops.Sqrt(ops.Sum(ops.Mul(r, r))), 1.0)) },
			[]any{"ragged", "float64", 1, []any{[]any{0.6, 0.8}, []any{}, []any{1.}}}},
		{"sizes", func(r T) T { return ops.Mul(ops.Size(r), 2) }, []any{"int64", "[4 0 2] int64[3]"}},
		{"shapes", func(r T) T { return ops.Shape(r) }, []any{"int64", "[[2]\n [0]\n [1]] int64[3, 1]"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, content(control.Map(c.f, T(x)))); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			g := function.New(func(x *ragged.Tensor) T { return control.Map(c.f, T(x)) })
			got, err := tenon.Try(func() T { return g.Call(x) })
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, content(got)); d != "" {
				t.Errorf("traced (-want +got):\n%s", d)
			}
		})
	}
	deep := tenon.Must(ragged.FromRowSplits(tensor.Of([]int64{1, 2, 3, 4}, 2, 2), []int{0, 2, 2}))
	if d := cmp.Diff([]int64{2, 2, 0, 2}, tensor.Data[int64](deep.RowShapes())); d != "" {
		t.Error(d)
	}
}
