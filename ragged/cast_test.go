package ragged_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

func TestRaggedRanks(t *testing.T) {
	x := tenon.Must(ragged.FromRowSplits(tensor.Of([]int64{1, 2, 3, 4}, 2, 2), []int{0, 2, 2}))
	y := tenon.Must(ragged.WithRaggedRank(x, 2)).(*ragged.Tensor)
	if got, want := y.Spec().(*ragged.Spec).String(), "int64[2, ~, 2]"; got != want || y.RaggedRank() != 2 {
		t.Errorf("got %s of ragged rank %d, want %s", got, y.RaggedRank(), want)
	}
	if d := cmp.Diff(nested(t, x), nested(t, y)); d != "" {
		t.Error(d)
	}
	if z := tenon.Must(ragged.WithRaggedRank(y, 1)); !tensor.Equal(x, z, tensor.EqualOptions{}) {
		t.Errorf("back it is %v, want %v", z, x)
	}
	if _, err := ragged.WithRaggedRank(y, 0); err == nil {
		t.Error("a ragged dimension became dense")
	}
	d := tensor.Of([]int64{1, 2, 3, 4}, 2, 2)
	if z := tenon.Must(ragged.WithRaggedRank(tenon.Must(ragged.WithRaggedRank(d, 1)), 0)); !tensor.Equal(d, z, tensor.EqualOptions{}) {
		t.Errorf("there and back %v is %v", d, z)
	}
}

// TestBranchesMayBeDense: a branch that returns a dense tensor where the other one
// returns a ragged one is cast.
func TestBranchesMayBeDense(t *testing.T) {
	x := rag([]float32{1, 2}, []float32{3})
	f := function.New(func(p T, x *ragged.Tensor) T {
		return control.Cond(p, func() T { return ops.Mul(x, 2.0) }, func() T { return tensor.Of([]float32{7, 8}, 2, 1) })
	})
	for p, want := range map[bool]any{
		true:  []any{[]any{float32(2), float32(4)}, []any{float32(6)}},
		false: []any{[]any{float32(7)}, []any{float32(8)}},
	} {
		if d := cmp.Diff(want, nested(t, f.Call(tensor.Scalar(p), x))); d != "" {
			t.Errorf("%v: %s", p, d)
		}
	}
}

func TestSpecsOfCasts(t *testing.T) {
	spec := func(v tenon.Value) *ragged.Spec { return v.Spec().(*ragged.Spec) }
	x := rag([]float32{1, 2}, []float32{3})
	small := tenon.Must(x.WithSplitsDType(dtype.Int32))
	inner := tenon.Must(ragged.FromRowSplits(tensor.Of([]float32{1, 2}, 2, 1), []int{0, 2, 2}))
	deep := tenon.Must(ragged.FromRowSplits(x, []int{0, 2}))
	for _, c := range []struct {
		a    *ragged.Spec
		b    tenon.Spec
		want string
	}{
		{spec(x), tensor.Of([]float32{1, 2}, 2, 1).Spec(), "float32[2, ~]"},
		{spec(small), tensor.Of([]float32{1, 2}, 1, 2).Spec(), "float32[?, ~]"},
		{spec(small), spec(x), "float32[2, ~]"},
		{spec(deep), spec(inner), "float32[?, ~, ~]"},
	} {
		m, ok := c.a.CastSpec(c.b)
		if !ok || tenon.String(m) != c.want {
			t.Errorf("%v and %s: got %v, want %s", c.a, tenon.String(c.b), m, c.want)
		}
	}
	if m, ok := spec(x).CastSpec(tensor.Of([]int64{1, 2}, 2, 1).Spec()); ok {
		t.Errorf("element types differ, but there is %v", m)
	}
}
