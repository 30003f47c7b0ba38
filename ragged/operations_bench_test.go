package ragged_test

import (
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/bench/inputs"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// operands are what BenchmarkOperations works on: a million rows of 0 to 20 elements.
type operands struct {
	x, y              *ragged.Tensor // float32, the same splits
	ints, doubles     *ragged.Tensor // int64 in [0, 100); float64
	mask              *ragged.Tensor // where x is positive
	order             *ragged.Tensor // positions of rows' elements in rising order
	perRow, column    tensor.Tensor  // float32[n], and as a column
	numbers, permuted tensor.Tensor  // row numbers: 0.3 n of them; all, shuffled
	padded, dense     tensor.Tensor  // [n, 10] with missing entries; [n, 20] filled up with zeros
	flat, lengths     tensor.Tensor
	runs              *ragged.Tensor // int64 in [0, 3)
	groups            tensor.Tensor  // int64[n], rising, ten equal ones on average
	few, fewOther     *ragged.Tensor // a fifth of the rows
	deep              *ragged.Tensor // [n/5, 0 to 9, 0 to 20]
	shallow           *ragged.Tensor // float32, a number for each row of deep's rows
	words, others     *ragged.Tensor // a fifth of the rows, strings of 1 to 16 bytes
	flags             tensor.Tensor  // bool[n]
	nans              *ragged.Tensor
}

var benchOperands = sync.OnceValue(func() *operands {
	const n = 1_000_000
	values, splits := inputs.Ragged(3, 0, n)
	at := tensor.Of(splits)
	o := &operands{flat: tensor.Of(values)}
	o.x = tenon.Must(ragged.FromRowSplits(o.flat, at))
	o.lengths = o.x.Partition().RowLengths()
	o.y = tenon.Must(o.x.WithFlatValues(tensor.Of(inputs.Syms(3, 7, len(values), 1))))
	o.ints = tenon.Must(o.x.WithFlatValues(tensor.Of(inputs.Belows(3, 8, len(values), 100))))
	o.runs = tenon.Must(o.x.WithFlatValues(tensor.Of(inputs.Belows(3, 9, len(values), 3))))
	o.doubles = ops.Cast(o.y, dtype.Float64).(*ragged.Tensor)
	o.mask = ops.Greater(o.x, float32(0)).(*ragged.Tensor)
	o.order = ops.ArgSort(o.x, -1, ops.SortOptions{}).(*ragged.Tensor)
	o.perRow = tensor.Of(inputs.Syms(3, 10, n, 1))
	o.column = ops.ExpandDims(o.perRow, 1)
	o.numbers = tensor.Of(inputs.Belows(3, 11, n*3/10, n))
	o.permuted = ops.ArgSort(tensor.Of(inputs.Syms(3, 12, n, 1)), -1, ops.SortOptions{})
	o.padded = tenon.Must(ragged.PadMissing(o.x, 10, 1, ragged.PadOptions{Clip: true}))
	o.dense = tenon.Must(o.x.ToDense(ragged.DenseOptions{}))
	o.groups = ops.Sort(tensor.Of(inputs.Belows(3, 13, n, n/10)), -1, ops.SortOptions{})
	o.flags = ops.Greater(o.perRow, float32(0))
	o.nans = ops.Where(o.mask, o.x, ops.Div(0.0, ops.ZerosLike(o.x))).(*ragged.Tensor)

	v, s := inputs.Ragged(3, 20, n/5)
	o.few = tenon.Must(ragged.FromRowSplits(tensor.Of(v), tensor.Of(s)))
	v, s = inputs.Ragged(3, 22, n/5)
	o.fewOther = tenon.Must(ragged.FromRowSplits(tensor.Of(v), tensor.Of(s)))

	r, outer := inputs.NewStream(3, 24), make([]int64, n/5+1)
	for i := range n / 5 {
		outer[i+1] = outer[i] + int64(r.Below(10))
	}
	v, s = inputs.Ragged(3, 25, int(outer[n/5]))
	o.deep = tenon.Must(ragged.FromNestedRowSplits(tensor.Of(v), tensor.Of(outer), tensor.Of(s))).(*ragged.Tensor)
	o.shallow = tenon.Must(ragged.FromRowSplits(tensor.Of(inputs.Syms(3, 27, int(outer[n/5]), 1)), tensor.Of(outer)))

	word := func(k int) *ragged.Tensor {
		r, w := inputs.NewStream(3, k), make([]string, o.few.FlatValues().Shape().Size())
		b := make([]byte, 16)
		for i := range w {
			b = b[:1+r.Below(16)]
			for j := range b {
				b[j] = 'a' + byte(r.Below(26))
			}
			w[i] = string(b)
		}
		return tenon.Must(o.few.WithFlatValues(tensor.Of(w)))
	}
	o.words, o.others = word(30), word(31)
	return o
})

// BenchmarkOperations measures single operations on a million rows, or a fifth of that
// where the result or the strings would be too many.
func BenchmarkOperations(b *testing.B) {
	o := benchOperands()
	x, y := o.x, o.y
	up := ops.SortOptions{}
	list := func(xs ...tensor.Tensor) []tensor.Tensor { return xs }
	type run struct {
		name string
		f    func()
	}
	runs := []run{
		{"add", func() { ops.Add(x, y) }},
		{"mul", func() { ops.Mul(x, y) }},
		{"div", func() { ops.Div(x, y) }},
		{"add_scalar", func() { ops.Add(x, float32(2)) }},
		{"neg", func() { ops.Neg(x) }},
		{"abs", func() { ops.Abs(x) }},
		{"exp", func() { ops.Exp(x) }},
		{"sqrt", func() { ops.Sqrt(x) }},
		{"round", func() { ops.Round(x) }},
		{"clip", func() { ops.Clip(x, float32(-0.5), float32(0.5)) }},
		{"greater", func() { ops.Greater(x, y) }},
		{"greater_scalar", func() { ops.Greater(x, float32(0)) }},
		{"equal", func() { ops.Equal(x, y) }},
		{"logical_and", func() { ops.LogicalAnd(o.mask, o.mask) }},
		{"isnan", func() { ops.IsNaN(x) }},
		{"nan_to_num", func() { ops.NaNToNum(o.nans) }},
		{"nan_to_none", func() { ragged.NaNToMissing(o.nans) }},
		{"astype_f64", func() { ops.Cast(x, dtype.Float64) }},
		{"astype_i32", func() { ops.Cast(x, dtype.Int32) }},
		{"zeros_like", func() { ops.ZerosLike(x) }},
		{"where", func() { ops.Where(o.mask, x, y) }},
		{"where_scalar", func() { ops.Where(o.mask, x, float32(0)) }},
		{"where_rows", func() { ragged.Choose(o.flags, x, y) }},
		{"add_column", func() { ops.Add(x, o.column) }},
		{"mul_column", func() { ops.Mul(x, o.column) }},
		{"greater_column", func() { ops.Greater(x, o.column) }},
		{"broadcast_rows", func() { ragged.BroadcastRows(list(o.perRow, x), ragged.BroadcastRowsOptions{}) }},

		{"sum", func() { ops.Sum(x, 1) }},
		{"mean", func() { ops.Mean(x, 1) }},
		{"max", func() { ops.Max(x, 1) }},
		{"min", func() { ops.Min(x, 1) }},
		{"prod", func() { ops.Prod(x, 1) }},
		{"any", func() { ops.Any(o.mask, 1) }},
		{"all", func() { ops.All(o.mask, 1) }},
		{"count_nonzero", func() { ops.CountNonzero(x, 1) }},
		{"count", func() { ragged.Count(x, 1) }},
		{"argmax", func() { ops.ArgMax(x, 1) }},
		{"argmin", func() { ops.ArgMin(x, 1) }},
		{"var", func() { ops.Variance(x, 1) }},
		{"std", func() { ops.Std(x, 1) }},
		{"softmax", func() { ops.Softmax(x, 1) }},
		{"log_softmax", func() { ops.LogSoftmax(x, 1) }},
		{"logsumexp", func() { ops.LogSumExp(x, 1) }},
		{"norm", func() { ops.Norm(x, 2, 1) }},
		{"cumsum", func() { ops.CumSum(x, 1, ops.CumOptions{}) }},
		{"cumprod", func() { ops.CumProd(x, 1, ops.CumOptions{}) }},
		{"cummax", func() { ops.CumMax(x, 1, ops.CumOptions{}) }},
		{"sum_down", func() { ops.Sum(x, 0) }},
		{"max_down", func() { ops.Max(x, 0) }},
		{"mean_down", func() { ops.Mean(x, 0) }},
		{"argmax_down", func() { ops.ArgMax(x, 0) }},
		{"any_down", func() { ops.Any(o.mask, 0) }},
		{"sum_all", func() { ops.Sum(x) }},
		{"max_all", func() { ops.Max(x) }},
		{"mean_all", func() { ops.Mean(x) }},
		{"std_all", func() { ops.Std(x) }},
		{"keep_sum", func() { ops.SumKeep(x, 1) }},

		{"pad_none", func() { ragged.PadMissing(x, 10, 1, ragged.PadOptions{}) }},
		{"pad_none_clip", func() { ragged.PadMissing(x, 10, 1, ragged.PadOptions{Clip: true}) }},
		{"fill_none", func() { ragged.FillMissing(o.padded, float32(0)) }},
		{"drop_none", func() { ragged.DropMissing(o.padded) }},
		{"is_none", func() { ragged.IsMissing(o.padded, 1) }},
		{"mask", func() { ragged.Mask(x, o.mask) }},
		{"mask_rows", func() { ragged.Mask(x, o.flags) }},
		{"to_dense", func() { x.ToDense(ragged.DenseOptions{}) }},
		{"to_dense_wide", func() { x.ToDense(ragged.DenseOptions{Shape: []int{-1, 32}}) }},
		{"from_dense", func() { ragged.FromDense(o.dense, ragged.FromDenseOptions{Padding: float32(0)}) }},
		{"from_dense_lengths", func() { ragged.FromDense(o.dense, ragged.FromDenseOptions{Lengths: o.lengths}) }},
		{"from_row_lengths", func() { ragged.FromRowLengths(o.flat, o.lengths) }},
		{"from_regular", func() { ragged.FromRegular(o.dense, 1) }},
		{"to_sparse", func() { x.ToSparse() }},

		{"take_rows", func() { ops.Index(x, o.numbers) }},
		{"take_all_rows", func() { ops.Index(x, o.permuted) }},
		{"take_inside", func() { ops.Index(x, o.order) }},
		{"mask_inside", func() { ops.Index(x, o.mask) }},
		{"mask_of_rows", func() { ops.Index(x, o.flags) }},
		{"slice_inside", func() { ops.Index(x, key.All, key.Range(1, 6, nil)) }},
		{"slice_last", func() { ops.Index(x, key.All, key.From(-3)) }},
		{"slice_step", func() { ops.Index(x, key.All, key.Range(nil, nil, 2)) }},
		{"reverse", func() { ops.Reverse(x, 1) }},
		{"reverse_rows", func() { ops.Index(x, key.Range(nil, nil, -1)) }},
		{"step_rows", func() { ops.Index(x, key.Range(nil, nil, 2)) }},
		{"range_rows", func() { ops.Index(x, key.Range(1000, 900000, nil)) }},
		{"firsts", func() { ragged.Firsts(x, 1) }},
		{"pick", func() { ragged.Pick(x, -1, ragged.PickOptions{Fill: float32(0)}) }},
		{"singletons", func() { ragged.Singletons(o.padded, 1) }},
		{"diff", func() {
			ops.Sub(ops.Index(x, key.All, key.From(1)), ops.Index(x, key.All, key.To(-1)))
		}},
		{"roll", func() { ops.Roll(x, 1, 1) }},
		{"sort", func() { ops.Sort(x, 1, up) }},
		{"sort_descending", func() { ops.Sort(x, 1, ops.SortOptions{Descending: true}) }},
		{"argsort", func() { ops.ArgSort(x, 1, up) }},
		{"top_3", func() { ops.TopK(o.dense, 3) }},
		{"concat_rows", func() { ops.Concat(list(x, y), 0) }},
		{"concat_inside", func() { ops.Concat(list(x, y), 1) }},
		{"concat_column", func() { ops.Concat(list(x, o.column), 1) }},
		{"stack_inside", func() { ops.Stack(list(x, y), 1) }},
		{"repeat_inside", func() { ops.Repeat(x, 2, 1) }},
		{"tile_inside", func() { ops.Tile(x, []int{1, 2}) }},
		{"flatten", func() { ragged.Flatten(x, 1) }},
		{"ravel", func() { ragged.Ravel(x) }},
		{"unflatten", func() { ragged.Unflatten(o.flat, o.lengths, 0) }},
		{"num", func() { ragged.Num(x, 1) }},
		{"local_index", func() { ragged.LocalIndex(x, 1) }},
		{"run_lengths", func() { ragged.RunLengths(o.runs) }},
		{"unique", func() { ops.Unique(o.ints.FlatValues()) }},
		{"isin", func() {
			ops.LogicalOr(ops.Equal(o.ints, 3), ops.LogicalOr(ops.Equal(o.ints, 7), ops.Equal(o.ints, 50)))
		}},
		{"segment_sum", func() { ops.SegmentSum(x, o.groups, 100000) }},
		{"combinations", func() { ragged.Combinations(o.few, 2, 1, ragged.CombinationOptions{}) }},
		{"argcombinations", func() { ragged.ArgCombinations(o.few, 2, 1, ragged.CombinationOptions{}) }},
		{"cartesian", func() { ragged.Cartesian(list(o.few, o.fewOther), 1, ragged.CartesianOptions{}) }},
		{"cartesian_nested", func() { ragged.Cartesian(list(o.few, o.fewOther), 1, ragged.CartesianOptions{Nested: true}) }},
	}
	for _, t := range []struct {
		name string
		x    *ragged.Tensor
	}{{"i64", o.ints}, {"f64", o.doubles}} {
		x := t.x
		col := ops.Cast(o.column, x.DType())
		for _, r := range []run{
			{"add", func() { ops.Add(x, x) }},
			{"add_column", func() { ops.Add(x, col) }},
			{"sum", func() { ops.Sum(x, 1) }},
			{"mean", func() { ops.Mean(x, 1) }},
			{"max", func() { ops.Max(x, 1) }},
			{"argmax", func() { ops.ArgMax(x, 1) }},
			{"softmax", func() {
				if x.DType() == dtype.Float64 {
					ops.Softmax(x, 1)
				}
			}},
			{"std", func() {
				if x.DType() == dtype.Float64 {
					ops.Std(x, 1)
				}
			}},
			{"cumsum", func() { ops.CumSum(x, 1, ops.CumOptions{}) }},
			{"sum_down", func() { ops.Sum(x, 0) }},
			{"pad_none_clip", func() { ragged.PadMissing(x, 10, 1, ragged.PadOptions{Clip: true}) }},
			{"to_dense", func() { x.ToDense(ragged.DenseOptions{}) }},
			{"take_rows", func() { ops.Index(x, o.numbers) }},
			{"take_inside", func() { ops.Index(x, o.order) }},
			{"mask_inside", func() { ops.Index(x, o.mask) }},
			{"where", func() { ops.Where(o.mask, x, x) }},
			{"sort", func() { ops.Sort(x, 1, up) }},
			{"argsort", func() { ops.ArgSort(x, 1, up) }},
			{"concat_rows", func() { ops.Concat(list(x, x), 0) }},
			{"concat_inside", func() { ops.Concat(list(x, x), 1) }},
			{"slice_inside", func() { ops.Index(x, key.All, key.Range(1, 6, nil)) }},
			{"reverse", func() { ops.Reverse(x, 1) }},
			{"firsts", func() { ragged.Firsts(x, 1) }},
		} {
			runs = append(runs, run{t.name + "/" + r.name, r.f})
		}
	}
	d, w, v := o.deep, o.words, o.others
	picks := tensor.Of(inputs.Belows(3, 40, 100000, 200000))
	inOrder := ops.ArgSort(w, 1, up)
	some := ops.Greater(o.few, float32(0))
	for _, r := range []run{
		{"sum", func() { ops.Sum(d, 2) }},
		{"max", func() { ops.Max(d, 2) }},
		{"argmax", func() { ops.ArgMax(d, 2) }},
		{"sum_middle", func() { ops.Sum(d, 1) }},
		{"max_middle", func() { ops.Max(d, 1) }},
		{"sum_inner_two", func() { ops.Sum(d, 1, 2) }},
		{"flatten", func() { ragged.Flatten(d, 1) }},
		{"flatten_inner", func() { ragged.Flatten(d, 2) }},
		{"num", func() { ragged.Num(d, 2) }},
		{"sort", func() { ops.Sort(d, 2, up) }},
		{"local_index", func() { ragged.LocalIndex(d, 2) }},
		{"take_rows", func() { ops.Index(d, picks) }},
		{"mask_inside", func() { ops.Index(d, ops.Greater(d, float32(0))) }},
		{"mask_middle", func() { ops.Index(d, ops.Greater(o.shallow, float32(0))) }},
		{"add_column", func() { ops.Add(d, ops.ExpandDims(o.shallow, -1)) }},
		{"concat_middle", func() { ops.Concat(list(d, d), 1) }},
		{"concat_inside", func() { ops.Concat(list(d, d), 2) }},
		{"slice_inside", func() { ops.Index(d, key.All, key.All, key.From(1)) }},
		{"slice_middle", func() { ops.Index(d, key.All, key.From(1)) }},
		{"firsts", func() { ragged.Firsts(d, 2) }},
		{"pad_none", func() { ragged.PadMissing(d, 5, 1, ragged.PadOptions{}) }},
		{"to_dense", func() { d.ToDense(ragged.DenseOptions{}) }},
		{"add", func() { ops.Add(d, d) }},
		{"cartesian", func() { ragged.Cartesian(list(o.shallow, o.shallow), 1, ragged.CartesianOptions{}) }},
	} {
		runs = append(runs, run{"deep/" + r.name, r.f})
	}
	for _, r := range []run{
		{"take_rows", func() { ops.Index(w, picks) }},
		{"take_inside", func() { ops.Index(w, inOrder) }},
		{"mask_inside", func() { ops.Index(w, some) }},
		{"equal", func() { ops.Equal(w, v) }},
		{"equal_scalar", func() { ops.Equal(w, "hello") }},
		{"less", func() { ops.Less(w, v) }},
		{"where", func() { ops.Where(some, w, v) }},
		{"concat_rows", func() { ops.Concat(list(w, v), 0) }},
		{"concat_inside", func() { ops.Concat(list(w, v), 1) }},
		{"join", func() { ops.StringJoin(list(w, v), "-") }},
		{"reduce_join", func() { ops.StringReduceJoin(w, " ", 1) }},
		{"upper", func() { ops.StringUpper(w, ops.UnitByte) }},
		{"upper_text", func() { ops.StringUpper(w, ops.UnitChar) }},
		{"length", func() { ops.StringLength(w, ops.UnitByte) }},
		{"length_text", func() { ops.StringLength(w, ops.UnitChar) }},
		{"substr", func() { ops.StringSubstr(w, 1, 3, ops.UnitByte) }},
		{"substr_text", func() { ops.StringSubstr(w, 1, 3, ops.UnitChar) }},
		{"strip", func() { ops.StringStrip(w) }},
		{"starts_with", func() { ops.StringRegexFullMatch(w, `ab.*`) }},
		{"replace", func() { ops.StringRegexReplace(w, `ab`, `xyz`, ops.RegexReplaceOptions{}) }},
		{"sort", func() { ops.Sort(w, 1, up) }},
		{"argsort", func() { ops.ArgSort(w, 1, up) }},
		{"unique", func() { ops.Unique(w.FlatValues()) }},
		{"split", func() { ragged.SplitStrings(w, ops.SplitOptions{Separator: "a"}) }},
		{"hash", func() { ops.StringHash(w, 1000, ops.HashOptions{}) }},
		{"flatten", func() { ragged.Flatten(w, 1) }},
		{"pad_none_clip", func() { ragged.PadMissing(w, 10, 1, ragged.PadOptions{Clip: true}) }},
		{"to_dense", func() { w.ToDense(ragged.DenseOptions{}) }},
		{"slice_inside", func() { ops.Index(w, key.All, key.Range(1, 6, nil)) }},
		{"reverse", func() { ops.Reverse(w, 1) }},
		{"firsts", func() { ragged.Firsts(w, 1) }},
	} {
		runs = append(runs, run{"string/" + r.name, r.f})
	}
	for _, r := range runs {
		b.Run(r.name, func(b *testing.B) {
			for range 3 {
				r.f()
			}
			runtime.GC() // memory of results comes back
			var times []time.Duration
			for b.Loop() {
				start := time.Now()
				r.f()
				times = append(times, time.Since(start))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2])/1e6, "median-ms")
			b.ReportMetric(float64(times[0])/1e6, "best-ms")
		})
	}
}
