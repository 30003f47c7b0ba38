package rows_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

func first(x, _ tensor.Tensor) any { return x }

// Splits, indices and sizes are checked, and what is wrong is named.
func TestErrors(t *testing.T) {
	x := []float32{1, 2, 3}
	good := []int{0, 2, 3}
	for name, c := range map[string]struct {
		call func() any
		kind error
		says string
	}{
		"splits fall":        {func() any { return rows.Sum(x, []int{0, 2, 1, 3}) }, tenon.ErrInvalid, "splits[2]"},
		"splits start":       {func() any { return rows.Lengths([]int{1, 2}) }, tenon.ErrInvalid, "splits[0]"},
		"splits end":         {func() any { return rows.Sum(x, []int{0, 2}) }, tenon.ErrInvalid, "end at 2, there are 3 values"},
		"splits int32":       {func() any { return rows.Max(x, []int32{0, 3, 1, 3}) }, tenon.ErrInvalid, "splits[2]"},
		"no splits":          {func() any { return rows.Sum(x, []int{}) }, tenon.ErrInvalid, "no entries"},
		"splits matrix":      {func() any { return rows.Sum(x, [][]int{{0, 3}}) }, tenon.ErrShape, "want a vector"},
		"splits type":        {func() any { return rows.Sum(x, []float32{0, 3}) }, tenon.ErrDType, "int32 or int64"},
		"values scalar":      {func() any { return rows.Sum(float32(1), []int{0, 1}) }, tenon.ErrShape, "at least one axis"},
		"values type":        {func() any { return rows.Softmax([]int{1}, []int{0, 1}) }, tenon.ErrDType, "floating"},
		"max of complex":     {func() any { return rows.Max([]complex64{1}, []int{0, 1}) }, tenon.ErrDType, "real"},
		"lengths":            {func() any { return rows.FromLengths([]int{1, -1}) }, tenon.ErrInvalid, "lengths[1]"},
		"lengths overflow":   {func() any { return rows.FromLengths([]int{math.MaxInt, 1}) }, tenon.ErrInvalid, "lengths"},
		"lengths int32":      {func() any { return rows.FromLengths([]int32{math.MaxInt32, 1}) }, tenon.ErrInvalid, "int64 row splits"},
		"row ids":            {func() any { return rows.FromRowIDs([]int{0, 2, 1}, nil) }, tenon.ErrInvalid, "ids[1]"},
		"row ids beyond":     {func() any { return rows.FromRowIDs([]int{0, 2}, 2) }, tenon.ErrInvalid, "ids[1]"},
		"row ids hostile":    {func() any { return rows.FromRowIDs([]int{0, math.MaxInt - 1}, nil) }, tenon.ErrInvalid, "as many rows"},
		"uniform huge":       {func() any { return rows.Uniform(1<<40, 1<<40) }, tenon.ErrShape, "memory"},
		"ids of huge splits": {func() any { return rows.RowIDs([]int{0, math.MaxInt}, -1) }, tenon.ErrShape, "memory"},
		"validate":           {func() any { return rows.Validate(good, 4) }, tenon.ErrInvalid, "4 values"},
		"same rows":          {func() any { return rows.AssertSame(good, []int{0, 1}) }, tenon.ErrInvalid, "2 and 1 rows"},
		"same lengths":       {func() any { return rows.AssertSame(good, []int32{0, 1, 3}) }, tenon.ErrInvalid, "row 0: the rows have 2 and 1 values"},
		"gather":             {func() any { return first(rows.Gather(x, good, []int{0, 2})) }, tenon.ErrInvalid, "indices[1]"},
		"gather negative":    {func() any { return first(rows.GatherIndex(good, []int32{-1})) }, tenon.ErrInvalid, "indices[0]"},
		"mask":               {func() any { return rows.MaskSplits(good, []bool{true}) }, tenon.ErrShape, "1 entries, there are 3 values"},
		"slice step":         {func() any { return first(rows.Slice(x, good, key.Range(nil, nil, 0))) }, tenon.ErrInvalid, "step is 0"},
		"pick":               {func() any { return first(rows.Pick(x, good, []int{0, 0, 0}, nil)) }, tenon.ErrShape, "2 rows"},
		"concat rows":        {func() any { return first(rows.Concat([]any{x, x}, []any{good, []int{0, 3}})) }, tenon.ErrShape, "partition 1 has 1 rows"},
		"concat values":      {func() any { return first(rows.Concat([]any{x, []float32{1}}, []any{good, good})) }, tenon.ErrInvalid, "row splits 1 end at 3"},
		"concat items":       {func() any { return first(rows.Concat([]any{x, [][]float32{{1}, {2}, {3}}}, []any{good, good})) }, tenon.ErrShape, "items of tensor 1"},
		"to_dense":           {func() any { return rows.ToDense(x, good, -1, nil) }, tenon.ErrInvalid, "at least 0"},
		"to_dense huge":      {func() any { return rows.ToDense(x, good, 1<<62, nil) }, tenon.ErrShape, "memory"},
		"to_dense fill":      {func() any { return rows.ToDense(x, good, 2, []float32{1, 2}) }, tenon.ErrShape, "fill"},
		"from_dense":         {func() any { return rows.FromDense([][]int{{1}, {2}}, good) }, tenon.ErrInvalid, "row 0 has 2 values, dense has 1 columns"},
		"repeat":             {func() any { return rows.Repeat(x, good, -1) }, tenon.ErrShape, "3 items for 2 rows"},
		"repeat_index":       {func() any { return first(rows.RepeatIndex(good, []int{1, -1})) }, tenon.ErrInvalid, "row 1"},
		"repeat_index huge":  {func() any { return first(rows.RepeatIndex(good, 1<<60)) }, tenon.ErrInvalid, "cannot be repeated"},
		"combinations":       {func() any { s, _ := rows.Combinations(good, 0, rows.CombinationOptions{}); return s }, tenon.ErrInvalid, "n is 0"},
		"combinations huge":  {func() any { s, _ := rows.Combinations([]int{0, 100000}, 3, rows.CombinationOptions{}); return s }, tenon.ErrInvalid, "more than the budget"},
		"bincount":           {func() any { return rows.BinCount([]int{0, 1, -3}, good, 2, rows.BinCountOptions{}) }, tenon.ErrInvalid, "values[2], row 1"},
		"bincount binary": {func() any {
			return rows.BinCount([]int{0}, []int{0, 1}, 2, rows.BinCountOptions{Weights: []float32{1}, Binary: true})
		}, tenon.ErrInvalid, "no weights"},
		"range step":   {func() any { return first(rows.Range([]int{0, 0}, []int{1, 5}, []int{1, 0}, dtype.Int64)) }, tenon.ErrInvalid, "row 1"},
		"range splits": {func() any { return first(rows.Range(0, 1, 1, dtype.Float32)) }, tenon.ErrDType, "int32 or int64"},
		"ngrams":       {func() any { return first(rows.NGrams([]int{1}, []int{0, 1}, []int{1}, ops.NGramOptions{})) }, tenon.ErrDType, "strings"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tenon.Try(c.call)
			var e *tenon.Error
			if !errors.As(err, &e) || !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want a %v that says %q", err, c.kind, c.says)
			}
		})
	}
}

// What describes a partition has the type of the splits; positions are int64.
func TestTypes(t *testing.T) {
	splits := tensor.Of([]int32{0, 2, 3})
	for name, x := range map[string]tensor.Tensor{
		"row ids": rows.RowIDs(splits, -1), "offsets": rows.Offsets(splits, -1), "lengths": rows.Lengths(splits), "max length": rows.MaxLength(splits),
		"gathered": first(rows.GatherIndex(splits, []int{1})).(tensor.Tensor), "stacked": rows.StackSplits([]any{splits, splits}), "uniform": rows.Uniform(int32(2), 3),
	} {
		if x.DType() != dtype.Int32 {
			t.Errorf("%s are %v", name, x.DType())
		}
	}
	mixed := rows.StackSplits([]any{splits, []int64{0, 1}})
	if got := tensor.Data[int64](mixed); !cmp.Equal(got, []int64{0, 2, 3, 4}) {
		t.Errorf("int32 and int64 stacked: %v", got)
	}
	if _, at := rows.GatherIndex(splits, []int{1}); at.DType() != dtype.Int64 {
		t.Errorf("positions are %v", at.DType())
	}
}

// Empty rows give the identity of each reduction.
func TestEmptyRows(t *testing.T) {
	x, splits := []float32{1, 3}, []int{0, 0, 2}
	inf := math.Inf(1)
	for name, c := range map[string]struct {
		got  tensor.Tensor
		want []float64
	}{
		"sum": {rows.Sum(x, splits), []float64{0, 4}}, "prod": {rows.Prod(x, splits), []float64{1, 3}}, "max": {rows.Max(x, splits), []float64{-inf, 3}},
		"min": {rows.Min(x, splits), []float64{inf, 1}}, "mean": {rows.Mean(x, splits), []float64{math.NaN(), 2}}, "var": {rows.Var(x, splits, 1), []float64{math.NaN(), 2}},
		"logsumexp": {rows.LogSumExp(x, []int{0, 0, 2}), []float64{-inf, 3 + math.Log1p(math.Exp(-2))}}, "argmax": {rows.ArgMax(x, splits), []float64{-1, 1}},
		"argmin of NaN": {rows.ArgMin([]float64{1, math.NaN()}, splits), []float64{-1, 1}}, "all": {rows.All([]bool{true, false}, splits), []float64{1, 0}},
		"any": {rows.Any([]bool{true, false}, splits), []float64{0, 1}}, "max of integers": {rows.Max([]int8{4, 2}, splits), []float64{-128, 4}},
		"mean of integers": {rows.Mean([]int{4, 3}, splits), []float64{math.NaN(), 3.5}}, "sum of truth": {rows.Sum([]bool{true, true}, splits), []float64{0, 2}},
	} {
		got := tensor.Data[float64](ops.Cast(c.got, dtype.Float64))
		if !cmp.Equal(got, c.want, cmp.Comparer(func(a, b float64) bool { return a == b || a != a && b != b || math.Abs(a-b) < 1e-6 })) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestCross(t *testing.T) {
	values, splits := rows.Cross([]tensor.Tensor{tensor.Of([]string{"a", "b", "c"}), tensor.Of([]int{1, 2, 3})}, []tensor.Tensor{tensor.Of([]int{0, 2, 3}), tensor.Of([]int{0, 1, 3})}, "")
	if got, want := tensor.Data[string](values), []string{"a_X_1", "b_X_1", "c_X_2", "c_X_3"}; !cmp.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := tensor.Data[int64](splits), []int64{0, 2, 4}; !cmp.Equal(got, want) {
		t.Errorf("splits %v, want %v", got, want)
	}
}

// Many crossed strings, of several columns, are those of one row after the other, and
// their hashes are those of the strings.
func TestCrossMany(t *testing.T) {
	const n = 3000
	var columns [3][]string
	var ends [3][]int
	var want []string
	out := []int64{0}
	for k := range ends {
		ends[k] = []int{0}
	}
	for r := range n {
		var row [3][]string
		for k := range columns {
			for i := range (r + k) % 4 {
				row[k] = append(row[k], strings.Repeat("x", i*k)+string(rune('a'+r%26)))
			}
			columns[k] = append(columns[k], row[k]...)
			ends[k] = append(ends[k], len(columns[k]))
		}
		for _, a := range row[0] {
			for _, b := range row[1] {
				for _, c := range row[2] {
					want = append(want, a+"-"+b+"-"+c)
				}
			}
		}
		out = append(out, int64(len(want)))
	}
	var values, splits []tensor.Tensor
	for k := range columns {
		values, splits = append(values, tensor.Of(columns[k])), append(splits, tensor.Of(ends[k]))
	}
	got, outSplits := rows.Cross(values, splits, "-")
	if !slices.Equal(tensor.Data[string](got), want) || !slices.Equal(tensor.Data[int64](outSplits), out) {
		t.Errorf("Cross of %d rows differs", n)
	}
	for name, o := range map[string]ops.HashOptions{"fingerprint": {}, "key": {Key: &[2]uint64{1, 2}}} {
		hashes, outSplits := rows.CrossHashed(values, splits, "-", 1000, o)
		if !slices.Equal(tensor.Data[int64](hashes), tensor.Data[int64](ops.StringHash(got, 1000, o))) || !slices.Equal(tensor.Data[int64](outSplits), out) {
			t.Errorf("CrossHashed by %s differs", name)
		}
	}
}

// Positions of the top values in their rows, made global, gather them.
func TestGlobal(t *testing.T) {
	x, splits := tensor.Of([]float32{1, 5, 3, 2, 9}), tensor.Of([]int{0, 3, 3, 5})
	top, at, ends := rows.TopK(x, splits, 2)
	again := ops.Gather(x, rows.Global(at, ends, splits), 0)
	if got, want := tensor.Data[float32](again), tensor.Data[float32](top); !cmp.Equal(got, want) || !cmp.Equal(got, []float32{5, 3, 9, 2}) {
		t.Errorf("got %v, want %v", got, want)
	}
}
