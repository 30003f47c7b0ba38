package ragged_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// An operation of rows: what it does to each row is what it does to a dense row.
type rowOperation struct {
	name   string
	f      func(x T) T
	rough  bool // no gradient, or one that is not the limit of differences
	untold bool // an empty row is an error, or its result differs from that of no elements
	plain  bool // only for rows of single elements
}

var rowOperations []rowOperation

// deepest returns the innermost axis below partitions of a tensor in these tests, where
// rows are along it: 1 for rows, 2 for rows of rows.
func rowAxis(x T) int {
	if r, ok := x.(*ragged.Tensor); ok {
		return r.RaggedRank()
	}
	return 1
}

func along(f func(x any, axis int) T) func(x T) T {
	return func(x T) T { return f(x, rowAxis(x)) }
}

func reducing(f func(x any, axes ...int) T) func(x T) T {
	return func(x T) T { return f(x, rowAxis(x)) }
}

func cumulative(f func(x any, axis int, o ops.CumOptions) T, o ops.CumOptions) func(x T) T {
	return func(x T) T { return f(x, rowAxis(x), o) }
}

func init() {
	exclusive, reverse := ops.CumOptions{Exclusive: true}, ops.CumOptions{Reverse: true}
	rowOperations = []rowOperation{
		{name: "exp", f: func(x T) T { return ops.Exp(x) }},
		{name: "clip", f: func(x T) T { return ops.Clip(x, -1.0, 1.0) }},
		{name: "sum", f: reducing(ops.Sum)},
		{name: "sum keep", f: reducing(ops.SumKeep)},
		{name: "prod", f: reducing(ops.Prod)},
		{name: "mean", f: reducing(ops.Mean), untold: true},
		{name: "variance", f: reducing(ops.Variance), untold: true},
		{name: "std", f: reducing(ops.Std), untold: true},
		{name: "max", f: reducing(ops.Max)},
		{name: "min", f: reducing(ops.Min)},
		{name: "any", f: func(x T) T { return ops.Any(ops.Greater(x, 0.5), rowAxis(x)) }, rough: true},
		{name: "all", f: func(x T) T { return ops.All(ops.Greater(x, 0.5), rowAxis(x)) }, rough: true},
		{name: "count nonzero", f: reducing(ops.CountNonzero), rough: true},
		{name: "logsumexp", f: reducing(ops.LogSumExp), untold: true},
		{name: "norm", f: func(x T) T { return ops.Norm(x, 2, rowAxis(x)) }, untold: true},
		{name: "argmax", f: func(x T) T { return filler(ops.ArgMax(x, rowAxis(x))) }, rough: true, untold: true},
		{name: "argmin", f: func(x T) T { return filler(ops.ArgMin(x, rowAxis(x))) }, rough: true, untold: true},
		{name: "cumsum", f: cumulative(ops.CumSum, exclusive)},
		{name: "cumprod", f: cumulative(ops.CumProd, reverse)},
		{name: "cummax", f: cumulative(ops.CumMax, ops.CumOptions{})},
		{name: "cummin", f: cumulative(ops.CumMin, reverse)},
		{name: "logcumsumexp", f: cumulative(ops.LogCumSumExp, ops.CumOptions{})},
		{name: "logcumsumexp reverse", f: cumulative(ops.LogCumSumExp, reverse)},
		{name: "linear scan", f: func(x T) T { return ops.LinearScan(ops.Sin(x), x, rowAxis(x), false) }},
		{name: "softmax", f: along(ops.Softmax)},
		{name: "log softmax", f: along(ops.LogSoftmax)},
		{name: "layer norm", f: func(x T) T { return ops.LayerNorm(x, nil, nil, 1e-3, rowAxis(x)) }},
		{name: "rms norm", f: func(x T) T { return ops.RMSNorm(x, nil, 1e-3, rowAxis(x)) }},
		{name: "sort", f: func(x T) T { return ops.Sort(x, rowAxis(x), ops.SortOptions{}) }},
		{name: "argsort", f: func(x T) T { return ops.ArgSort(x, rowAxis(x), ops.SortOptions{Descending: true}) }, rough: true},
		{name: "reverse", f: func(x T) T { return ops.Reverse(x, rowAxis(x)) }},
		{name: "roll", f: func(x T) T { return ops.Roll(x, 1, rowAxis(x)) }},
		{name: "shift", f: func(x T) T { return ops.Shift(x, -1, rowAxis(x)) }},
		{name: "take along axis", f: func(x T) T {
			return ops.TakeAlongAxis(x, ops.ArgSort(x, rowAxis(x), ops.SortOptions{}), rowAxis(x))
		}},
		{name: "put along axis", f: func(x T) T {
			return ops.PutAlongAxis(ops.Mul(x, 3.0), ops.ArgSort(x, rowAxis(x), ops.SortOptions{}), x, rowAxis(x))
		}},
		{name: "repeat", f: func(x T) T { return ops.Repeat(x, 2, rowAxis(x)) }},
		{name: "in rows", f: func(x T) T { return ops.Index(x, inRowsKeys(x, key.Range(nil, nil, -1))...) }},
		{name: "index update", f: func(x T) T { return ops.IndexUpdate(x, 7.0, inRowsKeys(x, key.From(1))...) }},
		{name: "dot", f: func(x T) T { return ops.Dot(x, ops.Sin(x)) }, plain: true},
		{name: "softmax cross entropy", f: func(x T) T {
			p := ops.Softmax(ops.Cos(x), -1)
			return ops.SoftmaxCrossEntropyDense(x, p)
		}, plain: true},
		{name: "linear", f: func(x T) T { return ops.MatMul(ops.ExpandDims(x, -1), tensor.Of([]float64{1, 2}, 1, 2)) }, plain: true},
		{name: "boolean mask", f: func(x T) T {
			if r, ok := x.(*ragged.Tensor); ok {
				return tenon.Must(ragged.BooleanMask(r, ops.Greater(r, 0.0)))
			}
			row := ops.Index(x, 0)
			return ops.ExpandDims(ops.BooleanMask(row, ops.Greater(row, 0.0), 0), 0)
		}, plain: true},
	}
}

// filler drops the mask of a result that may lack elements.
func filler(x T) T {
	if m, ok := x.(*masked.Tensor); ok {
		return m.Values()
	}
	return x
}

func inRowsKeys(x T, k key.Key) []any {
	keys := []any{}
	for range rowAxis(x) {
		keys = append(keys, key.All)
	}
	return append(keys, k)
}

// TestOperationsAreThoseOfRows: an operation along ragged rows does to each row what it
// does to a dense one; traced it does the same; its gradient is the limit of differences.
func TestOperationsAreThoseOfRows(t *testing.T) {
	at := []float64{0.3, -1.2, 0.7, 2.1, -0.4, 1.9, 0.8, -2.5, 1.1, 0.2, -0.9, 1.4}
	splits := []int{0, 3, 3, 4, 6}
	rows := func(x T) *ragged.Tensor { return tenon.Must(ragged.FromRowSplits(x, splits)) }
	kinds := []struct {
		name  string
		plain bool
		of    func(x T) *ragged.Tensor
		row   func(x *ragged.Tensor, r int) T // as a dense tensor [1, n, …]
		n     int
	}{
		{"rows", true, func(x T) *ragged.Tensor { return rows(ops.Index(x, key.To(6))) }, func(x *ragged.Tensor, r int) T { return ops.ExpandDims(ops.Index(x, r), 0) }, 4},
		{"rows of pairs", false, func(x T) *ragged.Tensor { return rows(ops.Reshape(x, []int{6, 2})) }, func(x *ragged.Tensor, r int) T { return ops.ExpandDims(ops.Index(x, r), 0) }, 4},
		{"rows of rows", true, func(x T) *ragged.Tensor {
			return tenon.Must(ragged.FromRowSplits(rows(ops.Index(x, key.To(6))), []int{0, 1, 1, 4}))
		}, func(x *ragged.Tensor, r int) T { return ops.ExpandDims(ops.Index(x.Values(), r), 0) }, 4},
	}
	for _, o := range rowOperations {
		for _, k := range kinds {
			if o.plain && !k.plain {
				continue
			}
			t.Run(o.name+"/"+k.name, func(t *testing.T) {
				x := k.of(tensor.Of(at))
				y, err := tenon.Try(func() T { return o.f(x) })
				if err != nil {
					t.Fatal(err)
				}
				inner := y
				for depth := 1; depth < x.RaggedRank(); depth++ {
					inner = inner.(*ragged.Tensor).Values()
				}
				for r := range k.n {
					row := k.row(x, r)
					if o.untold && row.Shape().Size() == 0 {
						continue
					}
					want, err := tenon.Try(func() T { return ops.Index(o.f(row), 0) })
					if err != nil {
						t.Fatal(err)
					}
					if d := cmp.Diff(content(want), content(ops.Index(inner, r))); d != "" && !near(want, ops.Index(inner, r)) {
						t.Errorf("row %d (-dense +ragged):\n%s", r, d)
					}
				}
				traced(t, func(x, _ T) T { return o.f(x) }, x, tensor.Scalar(int64(0)))
				if !o.rough {
					differences(t, func(x T) T { return o.f(k.of(x)) }, at)
				}
			})
		}
	}
}

// near reports whether two tensors of floats differ by rounding only.
func near(x, y T) bool {
	if x.DType() != dtype.Float64 || y.DType() != dtype.Float64 || !x.Shape().Equal(y.Shape()) {
		return false
	}
	a, b := tensor.Data[float64](flat(x)), tensor.Data[float64](flat(y))
	for i := range a {
		if !(math.Abs(a[i]-b[i]) <= 1e-14*(1+math.Abs(a[i])) || a[i] != a[i] && b[i] != b[i]) {
			return false
		}
	}
	return true
}

// differences compares the gradient of Σ i·f(x)ᵢ² with central differences, where f is
// finite.
func differences(t *testing.T, f func(x T) T, at []float64) {
	t.Helper()
	loss := func(x T) T {
		y := flat(f(x))
		i := ops.Add(ops.Cast(ops.Range(0, y.Shape().Dim(0), 1), y.DType()), 1.0)
		y = ops.Where(ops.IsFinite(y), y, ops.ZerosLike(y))
		return ops.Sum(ops.Mul(i, ops.Mul(y, y)))
	}
	got := tensor.Data[float64](tenon.Must(tenon.Try(func() T { return grad.Of(loss)(tensor.Of(at)) })))
	for k := range at {
		moved := func(h float64) float64 {
			x := append([]float64(nil), at...)
			x[k] += h
			return tensor.Item[float64](loss(tensor.Of(x)))
		}
		const h = 1e-6
		want := (moved(h) - moved(-h)) / (2 * h)
		if math.IsNaN(got[k]) {
			continue // of a row without elements
		}
		if math.Abs(want-got[k]) > 2e-6*(1+math.Abs(want)) {
			t.Errorf("∂/∂x[%d] is %v, want %v", k, got[k], want)
		}
	}
}

// TestOperationsAcrossRows: operations along axes that have ragged ones below them go by
// position in the row.
func TestOperationsAcrossRows(t *testing.T) {
	x := rag([]float64{1, 5, 3}, nil, []float64{4, 2}, []float64{6})
	for _, c := range []struct {
		name string
		f    func(x T) T
		want string
	}{
		{"sum", func(x T) T { return ops.Sum(x, 0) }, "[11.  7.  3.] float64[3]"},
		{"mean", func(x T) T { return ops.Mean(x, 0) }, "[3.66666667 3.5        3.        ] float64[3]"},
		{"variance", func(x T) T { return ops.Variance(x, 0) }, "[4.22222222 2.25       0.        ] float64[3]"},
		{"cummax", func(x T) T { return ops.CumMax(x, 0, ops.CumOptions{}) }, "[[1. 5. 3.] [] [4. 5.] [6.]] float64[4, ~]"},
		{"cumsum", func(x T) T { return ops.CumSum(x, 0, ops.CumOptions{Reverse: true}) }, "[[11. 7. 3.] [] [10. 2.] [6.]] float64[4, ~]"},
		{"sort", func(x T) T { return ops.Sort(x, 0, ops.SortOptions{}) }, "[[1. 2. 3.] [] [4. 5.] [6.]] float64[4, ~]"},
		{"reverse", func(x T) T { return ops.Reverse(x, 0) }, "[[6.] [4. 2.] [] [1. 5. 3.]] float64[4, ~]"},
		{"slice", func(x T) T { return ops.Slice(x, []int{0, 1}, []int{3, 1}) }, "[[5.] [] [2.]] float64[3, ~]"},
		{"histogram", func(x T) T { return ops.Histogram(x, []float64{0, 6}, 3) }, "[1 2 3] int64[3]"},
		{"reshape", func(x T) T { return ops.Reshape(x, []int{2, 3}) }, "[[1. 5. 3.]\n [4. 2. 6.]] float64[2, 3]"},
		{"index update", func(x T) T { return ops.IndexUpdate(x, 0.0, key.From(2)) }, "[[1. 5. 3.] [] [0. 0.] [0.]] float64[4, ~]"},
		{"cross entropy", func(x T) T {
			return ops.Round(ops.Mul(ops.SoftmaxCrossEntropy(ops.Index(x, key.By(tensor.Of([]bool{true, false, true, true}))), tensor.Of([]int64{1, 0, 0})), 1000.0))
		}, "[143. 127.   0.] float64[3]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := tenon.Try(func() T { return c.f(x) })
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, fmt.Sprint(got)); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestSeveralAxes: a mean over several axes divides by the number of elements that went
// into it, with ragged axes between those that go too.
func TestSeveralAxes(t *testing.T) {
	x := ragged.FromSlices2([][][]float64{{{1, 2}, {3}}, {}, {{4, 5, 6}, {7, 8}, {9}}})
	for _, c := range []struct {
		axes           []int
		mean, variance string
	}{
		{[]int{0, 1}, "[4.8 5.  6. ] float64[3]", "[8.16 6.   0.  ] float64[3]"},
		{[]int{0, 2}, "[3.6 6.  9. ] float64[3]", "[3.44       4.66666667 0.        ] float64[3]"},
		{[]int{-2, -1}, "[2.  nan 6.5] float64[3]", "[0.66666667        nan 2.91666667] float64[3]"},
		{[]int{0, 1, 2}, "5.0 float64[]", "6.666666666666667 float64[]"},
	} {
		for _, f := range []func(T) T{func(x T) T { return ops.Mean(x, c.axes...) }, func(x T) T { return ops.Variance(x, c.axes...) }} {
			traced(t, func(x, _ T) T { return f(x) }, x, tensor.Scalar(int64(0)))
		}
		if got := fmt.Sprint(ops.Mean(x, c.axes...)); got != c.mean {
			t.Errorf("mean over %v: got %s, want %s", c.axes, got, c.mean)
		}
		if got := fmt.Sprint(ops.Variance(x, c.axes...)); got != c.variance {
			t.Errorf("variance over %v: got %s, want %s", c.axes, got, c.variance)
		}
	}
}

// TestEinsum: ragged axes are batched over, or summed over row by row.
func TestEinsum(t *testing.T) {
	x := tenon.Must(ragged.FromRowSplits(tensor.Of([]float64{1, 2, 3, 4, 5, 6}, 3, 2), []int{0, 2, 2, 3}))
	y := tenon.Must(x.WithFlatValues(tensor.Of([]float64{1, 0, 0, 1, 1, 1}, 3, 2)))
	w := tensor.Of([]float64{1, 2, 3, 4}, 2, 2)
	for _, c := range []struct {
		equation string
		operands []any
		want     string
	}{
		{"btd,de->bte", []any{x, w}, "[[[7. 10.] [15. 22.]] [] [[23. 34.]]] float64[3, ~, 2]"},
		{"btd,btd->bt", []any{x, y}, "[[1. 4.] [] [11.]] float64[3, ~]"},
		{"btd,btd->b", []any{x, y}, "[ 5.  0. 11.] float64[3]"},
		{"btd,bte->bde", []any{x, y}, "[[[1. 3.]\n  [2. 4.]]\n\n [[0. 0.]\n  [0. 0.]]\n\n [[5. 5.]\n  [6. 6.]]] float64[3, 2, 2]"},
		{"btd,bd->bt", []any{x, tensor.Of([]float64{1, 0, 9, 9, 0, 1}, 3, 2)}, "[[1. 3.] [] [6.]] float64[3, ~]"},
		{"btd->b", []any{x}, "[10.  0. 11.] float64[3]"},
	} {
		got, err := tenon.Try(func() T { return ops.Einsum(c.equation, c.operands...) })
		if err != nil {
			t.Errorf("%s: %v", c.equation, err)
		} else if d := cmp.Diff(c.want, fmt.Sprint(got)); d != "" {
			t.Errorf("%s: %s", c.equation, d)
		}
	}
	if _, err := tenon.Try(func() T { return ops.Einsum("btd->tbd", x) }); err == nil {
		t.Error("a ragged axis moved in front of the rows")
	}
}

func TestEmbeddingLookup(t *testing.T) {
	table := tensor.Of([]float64{1, 2, 3, 4, 0, 5}, 3, 2)
	ids := rag([]int64{0, 1}, nil, []int64{2})
	weights := rag([]float64{1, 3}, nil, []float64{2})
	for _, c := range []struct {
		name string
		o    ragged.EmbeddingOptions
		want string
	}{
		{"lookup", ragged.EmbeddingOptions{}, "[[[1. 2.] [3. 4.]] [] [[0. 5.]]] float64[3, ~, 2]"},
		{"sum", ragged.EmbeddingOptions{Combiner: ragged.SumRows}, "[[4. 6.]\n [0. 0.]\n [0. 5.]] float64[3, 2]"},
		{"weighted", ragged.EmbeddingOptions{Combiner: ragged.SumRows, Weights: weights}, "[[10. 14.]\n [ 0.  0.]\n [ 0. 10.]] float64[3, 2]"},
		{"mean", ragged.EmbeddingOptions{Combiner: ragged.MeanRows, Weights: weights}, "[[2.5 3.5]\n [0.  0. ]\n [0.  5. ]] float64[3, 2]"},
		{"bounded", ragged.EmbeddingOptions{Combiner: ragged.SumRows, MaxNorm: 2.5}, "[[2.5 4. ]\n [0.  0. ]\n [0.  2.5]] float64[3, 2]"},
	} {
		got, err := ragged.EmbeddingLookup(table, ids, c.o)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if d := cmp.Diff(c.want, fmt.Sprint(got)); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
	differences(t, func(x T) T {
		return tenon.Must(ragged.EmbeddingLookup(ops.Reshape(x, []int{3, 2}), ids, ragged.EmbeddingOptions{Combiner: ragged.SqrtRows, Weights: weights}))
	}, []float64{1, 2, 3, 4, 0.5, 5})
	f := function.New(func(table T, ids *ragged.Tensor) T {
		return tenon.Must(ragged.EmbeddingLookup(table, ids, ragged.EmbeddingOptions{Combiner: ragged.MeanRows}))
	})
	if got := fmt.Sprint(f.Call(table, ids)); got != "[[2. 3.]\n [0. 0.]\n [0. 5.]] float64[3, 2]" {
		t.Errorf("traced: %s", got)
	}
	if _, err := ragged.EmbeddingLookup(table, rag([]int64{3}), ragged.EmbeddingOptions{Combiner: ragged.SumRows}); err == nil {
		t.Error("an id outside of the table")
	}
	crossed := tenon.Must(ragged.CrossHashed([]T{ragged.FromSlices([][]string{{"a", "b"}, nil}), rag([]int64{1}, []int64{2})}, ragged.CrossOptions{Buckets: 10}))
	if s := crossed.Shape(); s.Dim(0) != 2 || crossed.FlatValues().Shape().Size() != 2 {
		t.Errorf("crossed: %v", crossed)
	}
}
