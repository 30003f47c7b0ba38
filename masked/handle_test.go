package masked_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

func TestMoreOperations(t *testing.T) {
	counts := func(x T) T { return ops.Cast(x, dtype.Int64) }
	ids := []int64{0, 0}
	at := tensor.Of([]int64{1}, 1, 1)
	row := ops.Index(x, 0) // 1 - 3
	first := func(f func(any) (T, T, T, T), i int) func() T {
		return func() T { a, b, c, d := f(ops.Reshape(x, []int{-1})); return []T{a, b, c, d}[i] }
	}
	for name, c := range map[string]struct {
		f    func() T
		want []any
	}{
		"norm":               {func() T { return ops.Norm(x, 2, -1) }, []any{math.Sqrt(10), 0.0}},
		"contract":           {func() T { return ops.Contract(x, x, []int{0, 1}, []int{2, 1}, []int{0, 2}) }, []any{10.0, 0.0, 0.0, 0.0}},
		"softmax":            {func() T { return ops.Softmax(x, -1) }, []any{1 / (1 + math.Exp(2)), nil, 1 / (1 + math.Exp(-2)), nil, nil, nil}},
		"log_softmax":        {func() T { return ops.LogSoftmax(row, -1) }, []any{-math.Log(1 + math.Exp(2)), nil, -math.Log(1 + math.Exp(-2))}},
		"layer_norm":         {func() T { return ops.LayerNorm(x, []float64{1, 2, 3}, []float64{1, 1, 1}, 0, -1) }, []any{0.0, nil, 4.0, nil, nil, nil}},
		"rms_norm":           {func() T { return ops.RMSNorm(row, nil, 0, -1) }, []any{1 / math.Sqrt(5), nil, 3 / math.Sqrt(5)}},
		"top_k":              {func() T { v, _ := ops.TopK(x, 2); return v }, []any{3.0, 1.0, nil, nil}},
		"top_k positions":    {func() T { _, p := ops.TopK(row, 2); return p }, []any{int64(2), int64(0)}},
		"search_sorted":      {func() T { return ops.SearchSorted([]float64{1, 2, 3}, row, true) }, []any{int64(1), nil, int64(3)}},
		"bincount":           {func() T { return ops.BinCount(counts(x), ops.BinCountOptions{}) }, []any{int64(0), int64(1), int64(0), int64(1)}},
		"bincount weights":   {func() T { return ops.BinCount(counts(row), ops.BinCountOptions{Weights: ops.Mul(row, 2.0)}) }, []any{0.0, 2.0, 0.0, 6.0}},
		"unique":             {first(ops.Unique, 0), []any{1.0, 3.0}},
		"unique numbers":     {first(ops.Unique, 1), []any{int64(0), nil, int64(1), nil, nil, nil}},
		"unique first":       {first(ops.Unique, 3), []any{int64(0), int64(2)}},
		"nonzero":            {func() T { return ops.Nonzero(row) }, []any{int64(0), int64(2)}},
		"one_hot":            {func() T { return ops.Cast(ops.OneHot(counts(row), 4, -1, ops.OneHotOptions{}), dtype.Int64) }, []any{int64(0), int64(1), int64(0), int64(0), nil, nil, nil, nil, int64(0), int64(0), int64(0), int64(1)}},
		"one_hot first":      {func() T { return ops.Cast(ops.OneHot(counts(row), 2, 0, ops.OneHotOptions{}), dtype.Int64) }, []any{int64(0), nil, int64(0), int64(1), nil, int64(0)}},
		"segment_sum":        {func() T { return ops.SegmentSum(x, ids, 1) }, []any{1.0, 0.0, 3.0}},
		"segment_prod":       {func() T { return ops.SegmentProd(x, ids, 1) }, []any{1.0, 1.0, 3.0}},
		"segment_max":        {func() T { return ops.SegmentMax(x, ids, 1) }, []any{1.0, nil, 3.0}},
		"segment_min":        {func() T { return ops.SegmentMin(x, ids, 1) }, []any{1.0, nil, 3.0}},
		"segment_mean":       {func() T { return ops.SegmentMean(x, ids, 1) }, []any{1.0, math.NaN(), 3.0}},
		"segment of no id":   {func() T { return ops.SegmentSum([]float64{5, 6, 7}, counts(row), 4) }, []any{0.0, 5.0, 0.0, 7.0}},
		"diag":               {func() T { return ops.Diag(row) }, []any{1.0, 0.0, 0.0, 0.0, nil, 0.0, 0.0, 0.0, 3.0}},
		"triu":               {func() T { return ops.Triu(x, 0) }, []any{1.0, nil, 3.0, 0.0, nil, nil}},
		"scatter":            {func() T { return ops.ScatterND(at, ops.Reshape(row, []int{1, 3}), []int64{2, 3}) }, []any{0.0, 0.0, 0.0, 1.0, nil, 3.0}},
		"index_update":       {func() T { return ops.IndexUpdate(x, 9.0, 0, 1) }, []any{1.0, 9.0, 3.0, nil, nil, nil}},
		"index_update, gone": {func() T { return ops.IndexUpdate(tensor.Of([]float64{7, 8, 9}), ops.Index(row, 1), 0) }, []any{nil, 8.0, 9.0}},
		"scatter_update":     {func() T { return ops.TensorScatterUpdate(x, at, tensor.Of([]float64{7, 8, 9}, 1, 3)) }, []any{1.0, nil, 3.0, 7.0, 8.0, 9.0}},
		"scatter_add": {func() T {
			return ops.TensorScatterAdd(tensor.Of([]float64{7, 8, 9, 1, 1, 1}, 2, 3), at, ops.Reshape(row, []int{1, 3}))
		}, []any{7.0, 8.0, 9.0, 2.0, nil, 4.0}},
		"put_along":           {func() T { return ops.PutAlongAxis(row, []int64{1}, []float64{5}, 0) }, []any{1.0, 5.0, 3.0}},
		"add_along":           {func() T { return ops.AddAlongAxis(row, []int64{1, 0}, []float64{5, 5}, 0) }, []any{6.0, nil, 3.0}},
		"nothing in position": {func() T { return ops.Sub(x, x) }, []any{0.0, nil, 0.0, nil, nil, nil}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tenon.Try(c.f)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, show(got), cmpopts.EquateNaNs(), cmpopts.EquateApprox(1e-12, 1e-12)); d != "" {
				t.Error(d)
			}
		})
	}
}

// Every operation along rows gives, for each row, what it gives for the elements that
// are there, over dense and over ragged tensors, and recorded as a graph.
func TestRowsOfWhatIsThere(t *testing.T) {
	type along = struct {
		f    func(x T) T
		none any // the answer for a row without anything: nil where it is missing
	}
	reductions := map[string]along{
		"sum":       {func(x T) T { return ops.Sum(x, -1) }, 0.0},
		"prod":      {func(x T) T { return ops.Prod(x, -1) }, 1.0},
		"max":       {func(x T) T { return ops.Max(x, -1) }, nil},
		"min":       {func(x T) T { return ops.Min(x, -1) }, nil},
		"mean":      {func(x T) T { return ops.Mean(x, -1) }, math.NaN()},
		"variance":  {func(x T) T { return ops.Variance(x, -1) }, math.NaN()},
		"std":       {func(x T) T { return ops.Std(x, -1) }, math.NaN()},
		"logsumexp": {func(x T) T { return ops.LogSumExp(x, -1) }, math.Inf(-1)},
		"norm":      {func(x T) T { return ops.Norm(x, 2, -1) }, 0.0},
		"any":       {func(x T) T { return ops.Any(ops.Greater(x, 0.5), -1) }, false},
		"all":       {func(x T) T { return ops.All(ops.Greater(x, -0.5), -1) }, true},
	}
	elementwise := map[string]func(x T) T{
		"softmax":      func(x T) T { return ops.Softmax(x, -1) },
		"log_softmax":  func(x T) T { return ops.LogSoftmax(x, -1) },
		"cumsum":       func(x T) T { return ops.CumSum(x, -1, ops.CumOptions{}) },
		"cumprod":      func(x T) T { return ops.CumProd(x, -1, ops.CumOptions{}) },
		"logcumsumexp": func(x T) T { return ops.LogCumSumExp(x, -1, ops.CumOptions{}) },
		"sort":         func(x T) T { return ops.Sort(x, -1, ops.SortOptions{}) },
		"layer_norm":   func(x T) T { return ops.LayerNorm(x, nil, nil, 1e-3, -1) },
		"tanh":         func(x T) T { return ops.Tanh(x) },
		"less":         func(x T) T { return ops.Less(x, 0.0) },
		"clip":         func(x T) T { return ops.Clip(x, -0.5, 0.5) },
	}
	draw := rand.New(rand.NewPCG(1, 2))
	for round := range 20 {
		lengths := []int{3, 3, 3, 3}
		if round%2 == 1 {
			lengths = []int{draw.IntN(4), draw.IntN(4), draw.IntN(4), draw.IntN(4)}
		}
		x, there := drawn(draw, lengths, round%2 == 1)
		for name, r := range reductions {
			want := []any{}
			for _, row := range there {
				if len(row) == 0 {
					want = append(want, r.none)
				} else {
					want = append(want, show(r.f(tensor.Of(row)))...)
				}
			}
			compare(t, fmt.Sprintf("%s of %v", name, x), want, r.f, x)
		}
		for name, f := range elementwise {
			want := []any{}
			for _, row := range there {
				if len(row) > 0 {
					want = append(want, show(f(tensor.Of(row)))...)
				}
			}
			compare(t, fmt.Sprintf("%s of %v", name, x), want, func(x T) T { return compressed(f(x)) }, x)
		}
	}
}

// drawn returns rows some of whose elements are missing, and those that are there.
func drawn(draw *rand.Rand, lengths []int, rows bool) (x T, there [][]float64) {
	var values []float64
	var mask []bool
	for _, n := range lengths {
		row := []float64{}
		for range n {
			v, ok := draw.NormFloat64(), draw.IntN(2) == 0
			values, mask = append(values, v), append(mask, ok)
			if ok {
				row = append(row, v)
			}
		}
		there = append(there, row)
	}
	if !rows {
		return tenon.Must(masked.New(tensor.Of(values, len(lengths), lengths[0]), tensor.Of(mask, len(lengths), lengths[0]))), there
	}
	return tenon.Must(masked.New(tenon.Must(ragged.FromRowLengths(values, lengths)), tenon.Must(ragged.FromRowLengths(mask, lengths)))), there
}

// compressed returns the elements that are there as a vector.
func compressed(x T) T {
	m := x.(*masked.Tensor)
	v, k := m.Values(), m.Full()
	if r, ok := v.(*ragged.Tensor); ok {
		v, k = r.FlatValues(), k.(*ragged.Tensor).FlatValues()
	}
	return ops.BooleanMask(v, k, 0)
}

func compare(t *testing.T, name string, want []any, f func(x T) T, x T) {
	t.Helper()
	got, err := tenon.Try(func() T { return f(x) })
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	traced := function.New(f).Call(x)
	for form, y := range map[string]T{"": got, "traced ": traced} {
		if d := cmp.Diff(want, append([]any{}, show(y)...), cmpopts.EquateNaNs(), cmpopts.EquateApprox(1e-12, 1e-12)); d != "" {
			t.Errorf("%s%s: %s", form, name, d)
		}
	}
}

// A gradient does not see what is missing, and no row without anything makes it NaN.
func TestGradientsOfRows(t *testing.T) {
	for name, f := range map[string]func(x T) T{
		"softmax":    func(x T) T { return ops.Sum(ops.Square(ops.Softmax(x, -1))) },
		"layer_norm": func(x T) T { return ops.Sum(ops.Mul(ops.Square(x), ops.LayerNorm(x, nil, nil, 1e-3, -1))) },
		"max":        func(x T) T { return ops.Sum(ops.Square(ops.Max(x, -1))) },
		"norm":       func(x T) T { return ops.Sum(ops.Norm(x, 2)) },
		"matmul":     func(x T) T { return ops.Sum(ops.Square(ops.MatMul(x, ops.Transpose(x)))) },
	} {
		at := []float64{1, 2, 3, 4, 5, 6}
		loss := func(v T) T {
			return f(tenon.Must(masked.New(ops.Reshape(v, []int{2, 3}), tensor.Of([]bool{true, false, true, false, false, false}, 2, 3))))
		}
		got := tensor.Data[float64](grad.Of(loss)(tensor.Of(at)))
		for k := range at {
			near := func(h float64) float64 {
				v := append([]float64(nil), at...)
				v[k] += h
				return tensor.Item[float64](loss(tensor.Of(v)))
			}
			const h = 1e-6
			if want := (near(h) - near(-h)) / (2 * h); !(math.Abs(want-got[k]) <= 1e-5*(1+math.Abs(want))) {
				t.Errorf("%s: ∂/∂x[%d] is %v, want %v", name, k, got[k], want)
			}
		}
	}
}

// Memory seen as another type of elements: what becomes of an element that is missing
// is missing, and what is made of one too.
func TestBitcast(t *testing.T) {
	x := tenon.Must(masked.New(tensor.Of([]int32{1, 256}), []bool{true, false}))
	bytes := ops.Bitcast(x, dtype.Uint8).(*masked.Tensor)
	if got := fmt.Sprint(bytes.Values(), bytes.Full()); got != fmt.Sprint(tensor.Of([]uint8{1, 0, 0, 0, 0, 1, 0, 0}, 2, 4), tensor.Of([]bool{true, true, true, true, false, false, false, false}, 2, 4)) {
		t.Errorf("got %s", got)
	}
	back := ops.Bitcast(bytes, dtype.Int32).(*masked.Tensor)
	if !tensor.Equal(back.Values(), x.Values(), tensor.EqualOptions{}) || !tensor.Equal(back.Full(), x.Full(), tensor.EqualOptions{}) {
		t.Errorf("got %v, want %v", back, x)
	}
	same := ops.Bitcast(x, dtype.Float32).(*masked.Tensor)
	if same.DType() != dtype.Float32 || !tensor.Equal(same.Full(), x.Full(), tensor.EqualOptions{}) {
		t.Errorf("got %v", same)
	}
}

func TestJoinedTexts(t *testing.T) {
	a := tenon.Must(masked.New([]string{"a", "b", "c"}, []bool{true, false, true}))
	b := tenon.Must(masked.New([]string{"x", "y", "z"}, []bool{true, true, false}))
	got := ops.StringJoin([]T{a, tensor.Of([]string{"1", "2", "3"}), b}, "-").(*masked.Tensor)
	if !tensor.Equal(got.Full(), tensor.Of([]bool{true, false, false}), tensor.EqualOptions{}) || got.Values().(*tensor.Strings).At(0) != "a-1-x" {
		t.Errorf("got %v", got)
	}
}
