package ragged_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// shown writes a tensor as nested lists on one line, "-" standing for what is missing.
func shown(t *testing.T, x tensor.Tensor) string {
	t.Helper()
	if m, ok := x.(*masked.Tensor); ok {
		return strings.Join(strings.Fields(blanked(t, m)), " ")
	}
	return strings.Join(strings.Fields(spec.ReplaceAllString(fmt.Sprint(x), "")), " ")
}

// spec matches the Spec behind the elements of a printed tensor.
var spec = regexp.MustCompile(` [a-z]+[0-9]*\[[0-9, ~]*\]$`)

// blanked prints rows and elements of a masked tensor of rank 1 and 2.
func blanked(t *testing.T, m *masked.Tensor) string {
	n := tensor.Data[int64](tenon.Must(ragged.Num(m.Values(), 0)))[0]
	var words []string
	for i := range int(n) {
		there := true
		if r := m.Mask().Shape().Rank(); r == 1 {
			there = tensor.Data[bool](ops.Index(m.Mask(), i))[0]
		}
		row := ops.Index(m, i)
		if r, ok := row.(*masked.Tensor); ok && r.Mask().Shape().IsScalar() {
			row = r.Values()
		}
		switch {
		case !there:
			words = append(words, "-")
		default:
			words = append(words, shown(t, row))
		}
	}
	return "[" + strings.Join(words, " ") + "]"
}

func rowsOf(x ...[]int64) *ragged.Tensor { return ragged.FromSlices(x) }

func must(t *testing.T) func(x tensor.Tensor, err error) tensor.Tensor {
	return func(x tensor.Tensor, err error) tensor.Tensor {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
}

func TestMissing(t *testing.T) {
	ok := must(t)
	x := rowsOf([]int64{1, 2, 3}, nil, []int64{4})
	rows := ok(ragged.Mask(x, []bool{true, false, true}))
	elems := ok(ragged.Mask(x, ops.Greater(x, 1)))
	for _, c := range []struct {
		name string
		got  tensor.Tensor
		want string
	}{
		{"mask rows", rows, "[[1 2 3] - [4]]"},
		{"mask elements", elems, "[[- 2 3] [] [4]]"},
		{"sum of rows", ops.Sum(rows, -1), "[6 - 4]"},
		{"sum of elements", ops.Sum(elems, -1), "[5 0 4]"},
		{"sum down", ops.Sum(rows, 0), "[5 2 3]"},
		{"max", ops.Max(elems, -1), "[3 - 4]"},
		{"num", ok(ragged.Num(rows, 1)), "[3 - 1]"},
		{"is missing", ok(ragged.IsMissing(rows, 0)), "[false true false]"},
		{"drop rows", ok(ragged.DropMissing(rows)), "[[1 2 3] [4]]"},
		{"drop elements", ok(ragged.DropMissing(elems)), "[[2 3] [] [4]]"},
		{"drop elsewhere", ok(ragged.DropMissing(elems, 0)), "[[- 2 3] [] [4]]"},
		{"fill", ok(ragged.FillMissing(elems, 9)), "[[9 2 3] [] [4]]"},
		{"fill rows", ok(ragged.FillMissing(rows, []any{7, 8}, 0)), "[[1 2 3] [7 8] [4]]"},
		{"pad", ok(ragged.PadMissing(x, 2, 1, ragged.PadOptions{})), "[[1 2 3] [- -] [4 -]]"},
		{"pad and clip", ok(ragged.PadMissing(x, 2, 1, ragged.PadOptions{Clip: true})), "[[1 2] [- -] [4 -]]"},
		{"pad outside", ok(ragged.PadMissing(x, 4, 0, ragged.PadOptions{})), "[[1 2 3] [] [4] -]"},
		{"pad what lacks", ok(ragged.PadMissing(elems, 2, -1, ragged.PadOptions{})), "[[- 2 3] [- -] [4 -]]"},
		{"firsts", ok(ragged.Firsts(x, 1)), "[1 - 4]"},
		{"singletons", ok(ragged.Singletons(ok(ragged.Firsts(x, 1)), 0)), "[[1] [] [4]]"},
		{"flatten rows", ok(ragged.Flatten(rows, 1)), "[1 2 3 4]"},
		{"flatten elements", ok(ragged.Flatten(elems, 1)), "[- 2 3 4]"},
		{"flatten all", ok(ragged.FlattenAll(elems)), "[2 3 4]"},
		{"index", ops.Index(x, key.By(ok(ragged.PadMissing(rowsOf([]int64{2}, nil, []int64{0}), 2, 1, ragged.PadOptions{})))), "[[3 -] [- -] [4 -]]"},
		{"index rows", ops.Index(x, key.By(tenon.Must(masked.New([]int64{2, 0, 0}, []bool{true, false, true})))), "[[4] - [1 2 3]]"},
		{"index an optional", ops.Index(rows, key.All, key.To(1)), "[[1] - [4]]"},
		{"concat", ops.Concat([]any{rows, x}, 0), "[[1 2 3] - [4] [1 2 3] [] [4]]"},
		{"concat entries", ops.Concat([]any{rows, x}, 1), "[[1 2 3 1 2 3] [] [4 4]]"},
		{"sort", ops.Sort(elems, -1, ops.SortOptions{Descending: true}), "[[3 2 -] [] [4]]"},
		{"variance", ops.Variance(elems, 0), "[0. 0. 0.]"},
		{"sort rows", ops.Sort(rows, 0, ops.SortOptions{Descending: true}), "[[4 2 3] [1] -]"},
		{"order of rows", ops.ArgSort(rows, 0, ops.SortOptions{Descending: true}), "[[1 0 0] [0] -]"},
		{"run lengths", ok(ragged.RunLengths(rows)), "[[1 1 1] - [1]]"},
		{"position in no entries", ops.ArgMax(masked.All(tensor.Of([]int64{}, 2, 0)), 1), "[- -]"},
		{"pairs", ok(first(ragged.Combinations(elems, 2, 1, ragged.CombinationOptions{}))), "[[- - 2] [] []]"},
		{"a scalar for a row", ok(ragged.FillMissing(rows, int64(9), 0)), "[[1 2 3] [9] [4]]"},
		{"numbers stay", ok(ragged.NaNToMissing(rows)), "[[1 2 3] - [4]]"},
		{"NaN below rows", ok(ragged.FillMissing(ok(ragged.NaNToMissing(ops.Div(ops.Sub(rows, 1), ops.Sub(rows, 1)))), 9.0)), "[[9. 1. 1.] - [1.]]"},
		{"shared", ok(first(ragged.BroadcastRows([]tensor.Tensor{tensor.Of([]int64{7, 8, 9}), elems}, ragged.BroadcastRowsOptions{ShareMissing: true}))), "[[- 7 7] [] [9]]"},
		{"shared rows", ok(first(ragged.BroadcastRows([]tensor.Tensor{rowsOf([]int64{1, 1, 1}, []int64{2, 2}, []int64{3}), rows}, ragged.BroadcastRowsOptions{ShareMissing: true}))), "[[1 1 1] - [3]]"},
		{"product", ok(first(ragged.Cartesian([]tensor.Tensor{elems, rowsOf([]int64{5, 6}, nil, []int64{7})}, 1, ragged.CartesianOptions{}))), "[[- - 2 2 3 3] [] [4]]"},
		{"product of rows", ok(first(ragged.Cartesian([]tensor.Tensor{rows, rowsOf([]int64{5, 6}, []int64{8}, []int64{7})}, 1, ragged.CartesianOptions{}))), "[[1 1 2 2 3 3] - [4]]"},
		{"product with rows", ok(first(ragged.Cartesian([]tensor.Tensor{rowsOf([]int64{5, 6}, []int64{8}, []int64{7}), rows}, 1, ragged.CartesianOptions{}))), "[[5 5 5 6 6 6] [] [7]]"},
		{"pairs of rows", ok(first(ragged.Combinations(rows, 2, 1, ragged.CombinationOptions{}))), "[[1 1 2] - []]"},
		{"singletons of rows", ok(ragged.DropMissing(ok(ragged.Singletons(tenon.Must(masked.New(elems, []bool{true, false, true})), 0)))), "[[[2 3]] [] [[4]]]"},
	} {
		if got := shown(t, c.got); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// first returns the first of several tensors.
func first(xs []tensor.Tensor, err error) (tensor.Tensor, error) { return xs[0], err }

func TestUniformRows(t *testing.T) {
	ok := must(t)
	x := ok(ragged.FromUniformRowLength(rowsOf([]int64{1}, nil, []int64{2, 3}, []int64{4}), 2, nil))
	none := ops.Index(x, key.To(0))
	for _, c := range []struct {
		name string
		got  tensor.Tensor
		want string
		n    int
	}{
		{"sum of the rows", ops.Sum(x, 0), "[[3 3] [4]]", -1},
		{"sum of no rows", ops.Sum(none, 0), "[[] []]", -1},
		{"positions", ops.ArgMin(tenon.Must(ragged.WithRaggedRank(tensor.Of([]int64{5, 2, 1, 7}, 2, 2), 1)), 1), "[1 0]", -1},
		{"pairs", ok(first(ragged.Combinations(tensor.Of([]int64{1, 2, 3, 4, 5, 6}, 2, 3), 2, 1, ragged.CombinationOptions{Replacement: true}))), "[[1 1 1 2 2 3] [4 4 4 5 5 6]]", 6},
		{"pairs of none", ok(first(ragged.Combinations(tensor.Of([]int64{}, 0, 3), 2, 1, ragged.CombinationOptions{}))), "[]", 3},
		{"product", ok(first(ragged.Cartesian([]tensor.Tensor{tensor.Of([]int64{1, 2}, 1, 2), tensor.Of([]int64{1, 2}, 1, 2)}, 1, ragged.CartesianOptions{}))), "[[1 1 2 2]]", 4},
		{"nested product", ok(first(ragged.Cartesian([]tensor.Tensor{tensor.Of([]int64{1, 2}), tensor.Of([]int64{1, 2, 3})}, 0, ragged.CartesianOptions{Nested: true}))), "[[1 1 1] [2 2 2]]", 3},
		{"pick", ok(ragged.Pick(tenon.Must(ragged.FromUniformRowLength(x, 1, nil)), 0, ragged.PickOptions{})), "[[[1] []] [[2 3] [4]]]", 2},
		{"all of empty rows", ok(ragged.FlattenAll(tenon.Must(ragged.FromRowSplits(tensor.Of([]int64{}, 2, 0), []int64{0, 2})))), "[]", -1},
	} {
		if got := shown(t, c.got); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
		if n := c.got.Shape(); c.n >= 0 && n.Dim(1) != c.n {
			t.Errorf("%s: got the shape %v, want rows of %d", c.name, n, c.n)
		}
	}
	y := tenon.Must(ragged.FromRowSplits(tensor.Of([]int64{1, 2, 9, 4}, 2, 2), []int64{0, 0, 2}))
	if got := shown(t, ops.ArgMax(y, -1)); got != "[[] [1 0]]" {
		t.Errorf("positions below rows: got %s", got)
	}
}

func TestRegroup(t *testing.T) {
	ok := must(t)
	x := rowsOf([]int64{1, 2, 3, 4}, nil, []int64{5, 6})
	y := ragged.FromSlices2([][][]int64{{{1, 1}, {2}}, {}, {{}, {3, 4, 4}}})
	for _, c := range []struct {
		name string
		got  tensor.Tensor
		want string
	}{
		{"local index 0", ok(ragged.LocalIndex(x, 0)), "[0 1 2]"},
		{"local index", ok(ragged.LocalIndex(y, -1)), "[[[0 1] [0]] [] [[] [0 1 2]]]"},
		{"num", ok(ragged.Num(y, 2)), "[[2 1] [] [0 3]]"},
		{"run lengths", ok(ragged.RunLengths(y)), "[[[2] [1]] [] [[] [1 2]]]"},
		{"flatten", ok(ragged.Flatten(y, 2)), "[[1 1 2] [] [3 4 4]]"},
		{"flatten outside", ok(ragged.Flatten(y, 1)), "[[1 1] [2] [] [3 4 4]]"},
		{"ravel", ok(ragged.Ravel(y)), "[1 1 2 3 4 4]"},
		{"unflatten", ok(ragged.Unflatten(tensor.Of([]int64{1, 2, 3}), []int64{0, 2, 1}, 0)), "[[] [1 2] [3]]"},
		{"unflatten in rows", ok(ragged.Unflatten(x, []int64{0, 1, 3, 2, 0}, 1)), "[[[] [1] [2 3 4]] [] [[5 6] []]]"},
		{"unflatten evenly", ok(ragged.Unflatten(x, 2, 1)), "[[[1 2] [3 4]] [] [[5 6]]]"},
		{"pick", ok(ragged.Pick(y, -1, ragged.PickOptions{Axis: 2, Fill: 0})), "[[1 2] [] [0 4]]"},
		{"sort down", ops.Sort(x, 0, ops.SortOptions{Descending: true}), "[[5 6 3 4] [] [1 2]]"},
		{"order down", ops.ArgSort(x, 0, ops.SortOptions{Descending: true}), "[[2 2 0 0] [] [0 0]]"},
		{"take down", ops.TakeAlongAxis(x, ops.ArgSort(x, 0, ops.SortOptions{Descending: true}), 0), "[[5 6 3 4] [] [1 2]]"},
		{"take", ops.TakeAlongAxis(x, rowsOf([]int64{-1}, nil, []int64{0, 0}), 1), "[[4] [] [5 5]]"},
	} {
		if got := shown(t, c.got); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
	for name, err := range map[string]error{
		"counts":      second(ragged.Unflatten(x, []int64{3, 3}, 1)),
		"no row":      second(ragged.Unflatten(tenon.Must(ragged.FromRowLengths([]int64{}, []int64{})), []int64{0}, 1)),
		"axis":        second(ragged.Num(x, 2)),
		"differ":      second(ragged.ToRegular(x, 1)),
		"uneven":      second(ragged.Unflatten(x, 3, 1)),
		"negative":    second(ragged.Unflatten(x, -2, 1)),
		"mask":        second(ragged.Mask(x, []bool{true})),
		"pad":         second(ragged.PadMissing(x, -1, 1, ragged.PadOptions{})),
		"fill":        second(ragged.FillMissing(tenon.Must(ragged.Mask(x, []bool{true, false, true})), []any{[]any{1}}, 0)),
		"out of line": second(tenon.Try(func() tensor.Tensor { return ops.TakeAlongAxis(x, rowsOf([]int64{4}, nil, nil), 1) })),
	} {
		if !errors.Is(err, tenon.ErrInvalid) && !errors.Is(err, tenon.ErrAxis) && !errors.Is(err, tenon.ErrRange) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func second(_ tensor.Tensor, err error) error { return err }

func TestTuples(t *testing.T) {
	x := rowsOf([]int64{1, 2, 3}, nil, []int64{4, 5})
	y := ragged.FromSlices([][]string{{"a"}, {"b"}, {"c", "d"}})
	people, err := structured.FromFieldsAndRank([]structured.Field{{Name: "n", Value: x}}, 2, structured.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := func(ts []tensor.Tensor, err error) string {
		if err != nil {
			return err.Error()
		}
		var out []string
		for _, x := range ts {
			if s, ok := x.(*structured.Tensor); ok {
				x = tenon.Must(s.Field("n"))
			}
			out = append(out, shown(t, x))
		}
		return strings.Join(out, "; ")
	}
	for _, c := range []struct{ name, got, want string }{
		{"pairs", all(ragged.Combinations(x, 2, 1, ragged.CombinationOptions{})), "[[1 1 2] [] [4]]; [[2 3 3] [] [5]]"},
		{"positions", all(ragged.ArgCombinations(x, 2, 1, ragged.CombinationOptions{Replacement: true})), "[[0 0 0 1 1 2] [] [0 0 1]]; [[0 1 2 1 2 2] [] [0 1 1]]"},
		{"of records", all(ragged.Combinations(people, 2, 1, ragged.CombinationOptions{})), "[[1 1 2] [] [4]]; [[2 3 3] [] [5]]"},
		{"product", all(ragged.Cartesian([]tensor.Tensor{x, y}, 1, ragged.CartesianOptions{})), `[[1 2 3] [] [4 4 5 5]]; [["a" "a" "a"] [] ["c" "d" "c" "d"]]`},
		{"nested", all(ragged.Cartesian([]tensor.Tensor{x, y}, 1, ragged.CartesianOptions{Nested: true})), `[[[1] [2] [3]] [] [[4 4] [5 5]]]; [[["a"] ["a"] ["a"]] [] [["c" "d"] ["c" "d"]]]`},
		{"outside", all(ragged.Cartesian([]tensor.Tensor{tensor.Of([]int64{1, 2}), tensor.Of([]int64{3})}, 0, ragged.CartesianOptions{})), "[1 2]; [3 3]"},
		{"broadcast", all(ragged.BroadcastRows([]tensor.Tensor{tensor.Of([]int64{7, 8, 9}), x, tensor.Scalar(int64(1))}, ragged.BroadcastRowsOptions{})),
			"[[7 7 7] [] [9 9]]; [[1 2 3] [] [4 5]]; [[1 1 1] [] [1 1]]"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, c.got, c.want)
		}
	}
	if _, err := ragged.Cartesian([]tensor.Tensor{x, rowsOf(nil)}, 1, ragged.CartesianOptions{}); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("rows of different numbers: got %v", err)
	}
	first, err := ragged.Firsts(people, 1)
	if err != nil {
		t.Fatal(err)
	}
	if m, ok := first.(*masked.Tensor); !ok || shown(t, tenon.Must(m.Values().(*structured.Tensor).Field("n"))) != "[1 1 4]" {
		t.Errorf("first records: got %v", first)
	}
}

// TestDynamicStitch undoes TestDynamicPartition: rows go back where they came from.
func TestDynamicStitch(t *testing.T) {
	x := rowsOf([]int64{1, 2, 3}, nil, []int64{4}, []int64{5, 6})
	ids := []int64{1, 0, 1, 0}
	parts, err := ragged.DynamicPartition(x, ids, 2)
	if err != nil {
		t.Fatal(err)
	}
	at, err := ragged.DynamicPartition([]int64{0, 1, 2, 3}, ids, 2)
	if err != nil {
		t.Fatal(err)
	}
	back, err := ragged.DynamicStitch(at, parts)
	if err != nil {
		t.Fatal(err)
	}
	if got := shown(t, back); got != "[[1 2 3] [] [4] [5 6]]" {
		t.Errorf("got %s", got)
	}
	gaps, err := ragged.DynamicStitch([]tensor.Tensor{tensor.Of([]int64{3, 0}), tensor.Of([]int64{0})}, []tensor.Tensor{rowsOf([]int64{1}, []int64{2, 2}), rowsOf([]int64{7})})
	if err != nil {
		t.Fatal(err)
	}
	if got := shown(t, gaps); got != "[[7] [] [] [1]]" {
		t.Errorf("got %s", got)
	}
	if _, err := ragged.DynamicStitch([]tensor.Tensor{tensor.Of([]int64{-1})}, []tensor.Tensor{rowsOf([]int64{1})}); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("a negative index: %v", err)
	}
}
