package masked_test

import (
	"fmt"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// A missing row without elements stays missing where rows are moved, and no row that is
// there becomes missing.
func TestMissingEmptyRows(t *testing.T) {
	rows := tenon.Must(ragged.FromRowSplits(tensor.Of([]int64{1, 2, 3}), []int64{0, 2, 2, 2, 3}))
	x := tenon.Must(masked.New(rows, []bool{true, false, true, true}))
	wide := tenon.Must(masked.New(tensor.Of([]int64{1, 2, 3, 4, 5, 6}, 2, 1, 3), []bool{true, false}))
	table := tenon.Must(masked.New(tensor.Of([]int64{1, 2, 3, 4}, 2, 2, 1), tensor.Of([]bool{true, false, true, true}, 2, 2)))
	topped, _ := ops.TopK(x, 1)
	distinct, _, _, _ := ops.Unique(x)
	for _, c := range []struct {
		name string
		got  tensor.Tensor
		want string // of the values, then of the mask
	}{
		{"tile", ops.Tile(x, []int{2, 1}), "[[1 2] [] [] [3] [1 2] [] [] [3]] [ true false  true  true  true false  true  true]"},
		{"tile in rows", ops.Tile(x, []int{1, 2}), "[[1 2 1 2] [] [] [3 3]] [ true false  true  true]"},
		{"reverse", ops.Reverse(x, 0), "[[3] [] [] [1 2]] [ true  true false  true]"},
		{"reverse in rows", ops.Reverse(x, -1), "[[2 1] [] [] [3]] [ true false  true  true]"},
		{"roll", ops.Roll(x, 1, 0), "[[3] [1 2] [] []] [ true  true false  true]"},
		{"repeat", ops.Repeat(x, 2, 0), "[[1 2] [1 2] [] [] [] [] [3] [3]] [ true  true false false  true  true  true  true]"},
		{"repeat in rows", ops.Repeat(x, 2, 1), "[[1 1 2 2] [] [] [3 3]] [ true false  true  true]"},
		{"split", ops.Split(x, []int{1, 3}, 0)[1], "[[] [] [3]] [false  true  true]"},
		{"mask", ops.BooleanMask(x, []bool{false, true, true, false}, 0), "[[] []] [false  true]"},
		{"new axis", ops.Squeeze(ops.ExpandDims(x, 0), 0), "[[1 2] [] [] [3]] [ true false  true  true]"},
		{"transpose in rows", ops.Transpose(wide, 0, -1, 1), "[[[1]\n  [2]\n  [3]]\n\n [[4]\n  [5]\n  [6]]] [ true false]"},
		{"transpose", ops.Transpose(table, 1, 0, 2), "[[[1]\n  [3]]\n\n [[2]\n  [4]]] [[ true  true]\n [false  true]]"},
		{"stack", ops.Index(ops.Stack([]tensor.Tensor{x, rows}, 1), 1), "[[] []] [false  true]"},
		{"top", topped, "[[2] [] [] [3]] [ true false  true  true]"},
		{"unique", distinct, "[[1 2] [] [] [3]] [ true false  true  true]"},
		{"one-hot", ops.Sum(ops.OneHot(x, 4, -1, ops.OneHotOptions{}), -1), "[[1. 1.] [] [] [1.]] [ true false  true  true]"},
	} {
		m, ok := c.got.(*masked.Tensor)
		if !ok {
			t.Errorf("%s: %v is not masked", c.name, c.got)
			continue
		}
		if got := fmt.Sprintf("%s %s", elements(m.Values()), elements(m.Mask())); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// elements prints a tensor without its type.
func elements(x tensor.Tensor) string {
	s := fmt.Sprint(x)
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == ']' && i < len(s)-1 && s[i+1] == ' ' {
			return s[:i+1]
		}
	}
	return s
}

// A row that is missing is missing in what is computed with rows of the same lengths, though
// it has no element that could be.
func TestMissingRowsOfSums(t *testing.T) {
	x := ragged.FromSlices([][]float64{{3, 1}, {}, {4, 1, 5}})
	m := tenon.Must(masked.New(x, []bool{true, false, true}))
	n := tenon.Must(masked.New(x, []bool{true, true, false}))
	for name, tt := range map[string]struct {
		got  tensor.Tensor
		want []bool
	}{
		"of one":      {ops.Add(m, x), []bool{true, false, true}},
		"of either":   {ops.Mul(m, n), []bool{true, false, false}},
		"per row":     {ops.Sub(m, [][]float64{{1}, {2}, {3}}), []bool{true, false, true}},
		"of one of 3": {ops.Clip(m, x, x), []bool{true, false, true}},
	} {
		y, ok := tt.got.(*masked.Tensor)
		if !ok || !tensor.Equal(y.Mask(), tensor.Of(tt.want), tensor.EqualOptions{}) {
			t.Errorf("%s: got %v, want the rows %v", name, tt.got, tt.want)
		}
	}
}
