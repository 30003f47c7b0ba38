package ragged_test

import (
	"fmt"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// TestLines: along an axis with ragged ones below it, what is in memory gives what a graph
// gives, which knows no splits.
func TestLines(t *testing.T) {
	x := rag([]float64{1, 5, 3}, nil, []float64{4, 2}, []float64{6, 0, 7, 8})
	deep := tenon.Must(ragged.FromRowSplits(x, []int{0, 1, 1, 4}))
	operations := map[string]func(x T, axis int) T{
		"sum":        func(x T, a int) T { return ops.Sum(x, a) },
		"max":        func(x T, a int) T { return ops.Max(x, a) },
		"mean":       func(x T, a int) T { return ops.Mean(x, a) },
		"variance":   func(x T, a int) T { return ops.Variance(x, a) },
		"logsumexp":  func(x T, a int) T { return ops.LogSumExp(x, a) },
		"any":        func(x T, a int) T { return ops.Any(ops.Greater(x, 4.0), a) },
		"all":        func(x T, a int) T { return ops.All(ops.Greater(x, 1.0), a) },
		"count":      func(x T, a int) T { return ops.CountNonzero(x, a) },
		"argmax":     func(x T, a int) T { return filler(ops.ArgMax(x, a)) },
		"argmin":     func(x T, a int) T { return filler(ops.ArgMin(x, a)) },
		"cumsum":     func(x T, a int) T { return ops.CumSum(x, a, ops.CumOptions{}) },
		"sort":       func(x T, a int) T { return ops.Sort(x, a, ops.SortOptions{}) },
		"argsort":    func(x T, a int) T { return ops.ArgSort(x, a, ops.SortOptions{}) },
		"reverse":    func(x T, a int) T { return ops.Reverse(x, a) },
		"roll":       func(x T, a int) T { return ops.Roll(x, 1, a) },
		"softmax":    func(x T, a int) T { return ops.Softmax(x, a) },
		"layer norm": func(x T, a int) T { return ops.LayerNorm(x, nil, nil, 1e-3, a) },
	}
	for name, f := range operations {
		for axis := range 2 {
			for _, x := range []*ragged.Tensor{x, deep} {
				if axis >= x.RaggedRank() {
					continue
				}
				t.Run(fmt.Sprintf("%s/%d of %d", name, axis, x.RaggedRank()), func(t *testing.T) {
					traced(t, func(x, _ T) T { return f(x, axis) }, x, tensor.Scalar(int64(0)))
				})
			}
		}
	}
}

// TestStackedRows: rows are stacked one by one, whether there are few or many.
func TestStackedRows(t *testing.T) {
	x, y := rag([]float64{1, 2}, nil, []float64{3}), rag([]float64{4}, []float64{5, 6}, nil)
	for axis, want := range map[int]string{
		1:  "[[[1. 2.] [4.]] [[] [5. 6.]] [[3.] []]] float64[3, 2, ~]",
		-1: "[[[1. 2.] [3. 4.]] []] float64[2, ~, 2]",
	} {
		ts := []any{x, y}
		if axis < 0 {
			a := rag([]float64{1, 3}, nil)
			ts = []any{a, tenon.Must(a.WithFlatValues(tensor.Of([]float64{2, 4})))}
		}
		if got := fmt.Sprint(ops.Stack(ts, axis)); got != want {
			t.Errorf("axis %d: got %s, want %s", axis, got, want)
		}
	}
}
