package ragged_test

import (
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/structured"
)

// shownRecords writes the field n of records, which may be missing.
func shownRecords(t *testing.T, x T) string {
	t.Helper()
	switch x := x.(type) {
	case *structured.Tensor:
		return shown(t, tenon.Must(x.Field("n")))
	case *masked.Tensor:
		n := tenon.Must(x.Values().(*structured.Tensor).Field("n"))
		return shown(t, tenon.Must(masked.New(n, x.Mask())))
	}
	return shown(t, x)
}

// TestRecords: what chooses, groups and joins rows does so with records.
func TestRecords(t *testing.T) {
	n := rowsOf([]int64{1, 2, 3}, nil, []int64{4})
	x := T(tenon.Must(structured.FromFieldsAndRank([]structured.Field{{Name: "n", Value: n}, {Name: "s", Value: tenon.Must(n.WithFlatValues(ops.AsString(n.FlatValues(), ops.FormatOptions{})))}}, 2, structured.Options{})))
	ok := must(t)
	all := func(ts []T, err error) string {
		var out []string
		for _, y := range tenon.Must(ts, err) {
			out = append(out, shownRecords(t, y))
		}
		return strings.Join(out, "; ")
	}
	rows := ok(ragged.Mask(x, []bool{true, false, true}))
	for _, c := range []struct{ name, got, want string }{
		{"num", shownRecords(t, ok(ragged.Num(x, 1))), "[3 0 1]"},
		{"count", shownRecords(t, ok(ragged.Count(x, 1))), "[3 0 1]"},
		{"local index", shownRecords(t, ok(ragged.LocalIndex(x, 1))), "[[0 1 2] [] [0]]"},
		{"flatten", shownRecords(t, ok(ragged.Flatten(x, 1))), "[1 2 3 4]"},
		{"unflatten", shownRecords(t, ok(ragged.Unflatten(x, []int64{1, 2, 1}, 1))), "[[[1] [2 3]] [] [[4]]]"},
		{"firsts", shownRecords(t, ok(ragged.Firsts(x, 1))), "[1 - 4]"},
		{"singletons", shownRecords(t, ok(ragged.Singletons(ok(ragged.Firsts(x, 1)), 0))), "[[1] [] [4]]"},
		{"pad", shownRecords(t, ok(ragged.PadMissing(x, 2, 1, ragged.PadOptions{}))), "[[1 2 3] [- -] [4 -]]"},
		{"pad outside", shownRecords(t, ok(ragged.PadMissing(x, 4, 0, ragged.PadOptions{}))), "[[1 2 3] [] [4] -]"},
		{"mask", shownRecords(t, rows), "[[1 2 3] - [4]]"},
		{"drop", shownRecords(t, ok(ragged.DropMissing(rows))), "[[1 2 3] [4]]"},
		{"is missing", shownRecords(t, ok(ragged.IsMissing(rows, 0))), "[false true false]"},
		{"to regular", shownRecords(t, ok(ragged.ToRegular(ops.Index(x, key.All, key.To(0)), 1))), "[[] [] []]"},
		{"combinations", all(ragged.Combinations(x, 2, 1, ragged.CombinationOptions{})), "[[1 1 2] [] []]; [[2 3 3] [] []]"},
		{"positions", all(ragged.ArgCombinations(x, 2, 1, ragged.CombinationOptions{})), "[[0 0 1] [] []]; [[1 2 2] [] []]"},
		{"cartesian", all(ragged.Cartesian([]T{x, n}, 1, ragged.CartesianOptions{})), "[[1 1 1 2 2 2 3 3 3] [] [4]]; [[1 2 3 1 2 3 1 2 3] [] [4]]"},
		{"broadcast", all(ragged.BroadcastRows([]T{x, ok(ragged.Num(x, 1))}, ragged.BroadcastRowsOptions{})), "[[1 2 3] [] [4]]; [[3 3 3] [] [1]]"},
		{"index", shownRecords(t, ops.Index(x, key.By(ragged.FromSlices([][]int64{{2, 0}, nil, {-1}})))), "[[3 1] [] [4]]"},
		{"index by a mask", shownRecords(t, ops.Index(x, key.By(ops.Greater(n, 2)))), "[[3] [] [4]]"},
		{"missing positions", shownRecords(t, ops.Index(x, key.By(ok(ragged.PadMissing(ragged.FromSlices([][]int64{{1}, nil, {0}}), 1, 1, ragged.PadOptions{}))))), "[[2] [-] [4]]"},
		{"concat", shownRecords(t, ops.Concat([]T{x, x}, 1)), "[[1 2 3 1 2 3] [] [4 4]]"},
		{"concat missing", shownRecords(t, ops.Concat([]T{rows, x}, 0)), "[[1 2 3] - [4] [1 2 3] [] [4]]"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, c.got, c.want)
		}
	}
}
