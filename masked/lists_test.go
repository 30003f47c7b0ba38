package masked_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// nested reads lists of which any may be missing, and so may their elements.
func nested(t *testing.T, x ...any) tensor.Tensor {
	t.Helper()
	v, err := structured.FromNested(x, structured.NestedOptions{Missing: structured.MissingMasked})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func lists(x ...any) []any { return x }

// What is done element by element leaves a list that is missing so, though it has no
// element that could be.
func TestMissingListsStayMissing(t *testing.T) {
	m := nested(t, lists(1, 5, nil), nil, lists(nil, nil), lists(), lists(7))
	p := nested(t, lists(1, 2, 3), lists(), lists(4, 5), lists(), lists(6))
	deep := nested(t, lists(lists(1, nil), nil), nil, lists(), lists(nil, lists()))
	big := func(x tensor.Tensor) tensor.Tensor { return ops.Greater(x, int64(2)) }
	for name, c := range map[string]struct {
		f    func() tensor.Tensor
		want string
	}{
		"where of missing lists": {func() tensor.Tensor { return ops.Where(big(m), m, m) }, "[[1 5 <nil>] <nil> [<nil> <nil>] [] [7]]"},
		"where with a scalar":    {func() tensor.Tensor { return ops.Where(big(m), m, int64(-1)) }, "[[-1 5 <nil>] <nil> [<nil> <nil>] [] [7]]"},
		"where of present lists": {func() tensor.Tensor { return ops.Where(big(p), m, p) }, "[[1 2 <nil>] <nil> [<nil> <nil>] [] [7]]"},
		"and":                    {func() tensor.Tensor { return masked.And(big(m), ops.Less(p, int64(3))) }, "[[false true false] <nil> [false false] [] [false]]"},
		"or":                     {func() tensor.Tensor { return masked.Or(big(m), ops.Less(p, int64(3))) }, "[[true true <nil>] <nil> [<nil> <nil>] [] [true]]"},
		"not":                    {func() tensor.Tensor { return masked.Not(big(m)) }, "[[true false <nil>] <nil> [<nil> <nil>] [] [false]]"},
		"fill":                   {func() tensor.Tensor { return masked.Fill(m, int64(0)) }, "[[1 5 0] <nil> [0 0] [] [7]]"},
		"add":                    {func() tensor.Tensor { return ops.Add(m, p) }, "[[2 7 <nil>] <nil> [<nil> <nil>] [] [13]]"},
		"add deep":               {func() tensor.Tensor { return ops.Add(deep, deep) }, "[[[2 <nil>] <nil>] <nil> [] [<nil> []]]"},
		"where deep":             {func() tensor.Tensor { return ops.Where(big(deep), deep, int64(9)) }, "[[[9 <nil>] <nil>] <nil> [] [<nil> []]]"},
		"not deep":               {func() tensor.Tensor { return masked.Not(big(deep)) }, "[[[true <nil>] <nil>] <nil> [] [<nil> []]]"},
		"fill deep":              {func() tensor.Tensor { return masked.Fill(deep, int64(0)) }, "[[[1 0] <nil>] <nil> [] [<nil> []]]"},
		"pad":                    {func() tensor.Tensor { return ops.Pad(m, [][]int{{0, 0}, {1, 0}}, ops.PadOptions{}) }, "[[0 1 5 <nil>] <nil> [0 <nil> <nil>] [0] [0 7]]"},
		"gather in lists":        {func() tensor.Tensor { return ops.Gather(m, []int{}, 1) }, "[[] <nil> [] [] []]"},
	} {
		for how, f := range map[string]func() tensor.Tensor{"eager": c.f, "traced": function.New(c.f).Call} {
			if got := fmt.Sprint(nestedOf(t, f())); got != c.want {
				t.Errorf("%s, %s: got %s, want %s", name, how, got, c.want)
			}
		}
	}
}

// nestedOf returns a value as nested lists, with nil for what is missing.
func nestedOf(t *testing.T, v tensor.Tensor) any {
	t.Helper()
	s, err := structured.FromFields([]structured.Field{{Name: "v", Value: v}}, v.Shape().Slice(0, 0), structured.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tenon.Must(s.ToNested()).(map[string]any)["v"]
}

// Masks of different depth stand one around the other, the one of rows outermost,
// whichever was given first.
func TestMasksOfDifferentDepth(t *testing.T) {
	r := tenon.Must(ragged.FromRowSplits([]int64{1, 2, 3}, []int64{0, 2, 3}))
	elements := tenon.Must(ragged.FromRowSplits([]bool{true, false, true}, []int64{0, 2, 3}))
	for _, v := range []tensor.Tensor{
		tenon.Must(masked.New(tenon.Must(masked.New(r, elements)), []bool{true, false})),
		tenon.Must(masked.New(tenon.Must(masked.New(r, []bool{true, false})), elements)),
	} {
		if got := fmt.Sprint(nestedOf(t, v)); got != "[[1 <nil>] <nil>]" {
			t.Errorf("got %s", got)
		}
		m := v.(*masked.Tensor)
		if _, inner := m.Values().(*masked.Tensor); !inner || m.Mask().Shape().Rank() != 1 {
			t.Errorf("the outer mask is %v", m.Mask())
		}
	}
}

// Elements that are missing inside of rows are an error of unique that says so.
func TestUniqueOfRowsWithGaps(t *testing.T) {
	_, err := tenon.Try(func() any { v, _, _, _ := ops.Unique(nested(t, lists(1, nil), lists(2))); return v })
	var e *tenon.Error
	if !errors.As(err, &e) || !errors.Is(err, tenon.ErrUnsupported) || e.Hint == "" {
		t.Errorf("got %v", err)
	}
}
