package passes_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/interp"
	"github.com/tenonml/tenon/internal/passes"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

func TestRows(t *testing.T) {
	for _, tt := range []struct {
		name string
		f    func(s tensor.Tensor) tensor.Tensor
		want string
	}{
		{"ranges up to the lengths of rows are positions", func(s tensor.Tensor) tensor.Tensor {
			at, again := rows.Range(0, rows.Lengths(s), 1, dtype.Int64)
			return rows.Sum(at, rows.AssertSame(s, again))
		}, `graph f(%0: int64[4]) {
  %1 = ragged.lengths(splits: %0) : int64[3]
  %2 = ragged.offsets(splits: %0) : int64[?]
  %3 = ragged.sum(values: %2, splits: %0) : int64[3]
  return %3
}
`},
		{"other ranges are not", func(s tensor.Tensor) tensor.Tensor {
			at, again := rows.Range(1, rows.Lengths(s), 1, dtype.Int64)
			return rows.Sum(at, again)
		}, `graph f(%0: int64[4]) {
  %1 = ragged.lengths(splits: %0) : int64[3]
  %2 = const int64[] "AQAAAAAAAAA="
  %3 = const int64[] "AQAAAAAAAAA="
  %4, %5 = ragged.range(starts: %2, limits: %1, deltas: %3) : int64[?], int64[4]
  %6 = ragged.sum(values: %4, splits: %5) : int64[3]
  return %6
}
`},
	} {
		g, err := graph.Trace("f", []*tensor.Spec{tensor.NewSpec(dtype.Int64, shape.Of(4))}, func(p []tensor.Tensor) ([]tensor.Tensor, error) {
			return []tensor.Tensor{tt.f(p[0])}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		h, err := passes.Rows(g)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tt.want, unlined(t, h)); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
		s := tensor.Vector([]int64{0, 3, 4, 9})
		got, err := interp.For(h).Run(t.Context(), []tensor.Tensor{s})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tensor.Data[int64](tt.f(s)), tensor.Data[int64](got[0])); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
}
