package ragged_test

import (
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// BenchmarkSmall measures what an operation on a handful of elements costs.
func BenchmarkSmall(b *testing.B) {
	x := rag([]float32{1, 2, 3}, nil, []float32{4, 5}, []float32{6, 7, 8, 9, 10})
	y := rag([]float32{1, 2, 3}, nil, []float32{4, 5}, []float32{6, 7, 8, 9, 10})
	same := tenon.Must(x.WithFlatValues(y.FlatValues()))
	column := tensor.Of([]float32{1, 2, 3, 4}, 4, 1)
	numbers, mask := tensor.Of([]int64{2, 0, 3}), ops.Greater(x, float32(2))
	positions := rag([]int64{0}, nil, []int64{1, 0}, []int64{2})
	splits, values := x.RowSplits(), x.FlatValues()
	lists := []any{[]any{1., 2., 3.}, []any{}, []any{4., 5.}, []any{6., 7., 8., 9., 10.}}
	slices := [][]float32{{1, 2, 3}, nil, {4, 5}, {6, 7, 8, 9, 10}}
	padded := tenon.Must(ragged.PadMissing(x, 3, 1, ragged.PadOptions{}))
	ids, long, few := ops.Cast(ops.Mod(x, 4), dtype.Int64).(*ragged.Tensor), ops.ExpandDims(x, 0), tensor.Of([]int64{0, 1, 1, 0})
	for _, c := range []struct {
		name string
		f    func()
	}{
		{"add/same", func() { ops.Add(x, same) }},
		{"add/equal", func() { ops.Add(x, y) }},
		{"add/scalar", func() { ops.Add(x, 2.0) }},
		{"add/column", func() { ops.Add(x, column) }},
		{"greater/same", func() { ops.Greater(x, same) }},
		{"neg", func() { ops.Neg(x) }},
		{"row", func() { ops.Index(x, 2) }},
		{"range", func() { ops.Index(x, key.Range(1, 3, nil)) }},
		{"in_rows", func() { ops.Index(x, key.All, key.From(1)) }},
		{"from_splits", func() { ragged.FromRowSplits(values, splits) }},
		{"from_slices", func() { ragged.FromSlices(slices) }},
		{"const", func() { ragged.Const(lists, ragged.Options{}) }},
		{"to_dense", func() { x.ToDense(ragged.DenseOptions{}) }},
		{"pick", func() { ragged.Pick(same, -1, ragged.PickOptions{Fill: 0.0}) }},
		{"sum", func() { ops.Sum(x, -1) }},
		{"sum/down", func() { ops.Sum(x, 0) }},
		{"sum/all", func() { ops.Sum(x) }},
		{"mean", func() { ops.Mean(x, -1) }},
		{"argmax", func() { ops.ArgMax(x, -1) }},
		{"softmax", func() { ops.Softmax(x, -1) }},
		{"cumsum", func() { ops.CumSum(x, -1, ops.CumOptions{}) }},
		{"sort", func() { ops.Sort(x, -1, ops.SortOptions{}) }},
		{"gather", func() { ops.Gather(x, numbers, 0) }},
		{"by_rows", func() { ops.Index(x, numbers) }},
		{"by_positions", func() { ops.Index(x, positions) }},
		{"by_mask", func() { ops.Index(x, mask) }},
		{"concat/rows", func() { ops.Concat([]tensor.Tensor{x, same}, 0) }},
		{"concat/in_rows", func() { ops.Concat([]tensor.Tensor{x, same}, 1) }},
		{"flatten", func() { ragged.Flatten(x, 1) }},
		{"firsts", func() { ragged.Firsts(x, 1) }},
		{"pad_missing", func() { ragged.PadMissing(x, 3, 1, ragged.PadOptions{}) }},
		{"local_index", func() { ragged.LocalIndex(x, 1) }},
		{"run_lengths", func() { ragged.RunLengths(x) }},
		{"num", func() { ragged.Num(x, 1) }},
		{"drop_missing", func() { ragged.DropMissing(padded) }},
		{"fill_missing", func() { ragged.FillMissing(padded, 0) }},
		{"max", func() { ops.Max(x, -1) }},
		{"prod", func() { ops.Prod(x, -1) }},
		{"logsumexp", func() { ops.LogSumExp(x, -1) }},
		{"max/down", func() { ops.Max(x, 0) }},
		{"argsort", func() { ops.ArgSort(x, -1, ops.SortOptions{}) }},
		{"top_k", func() { ops.TopK(x, 2) }},
		{"unique", func() { ops.Unique(x) }},
		{"reverse", func() { ops.Reverse(x, 1) }},
		{"roll", func() { ops.Roll(x, 1, 1) }},
		{"tile", func() { ops.Tile(x, []int{2, 1}) }},
		{"tile/in_rows", func() { ops.Tile(x, []int{1, 2}) }},
		{"repeat", func() { ops.Repeat(x, 2, 0) }},
		{"stack", func() { ops.Stack([]tensor.Tensor{x, same}, 0) }},
		{"stack/in_rows", func() { ops.Stack([]tensor.Tensor{x, same}, 1) }},
		{"split", func() { ops.Split(x, 2, 0) }},
		{"expand_dims", func() { ops.ExpandDims(x, 1) }},
		{"squeeze", func() { ops.Squeeze(long, 0) }},
		{"one_hot", func() { ops.OneHot(ids, 4, -1, ops.OneHotOptions{}) }},
		{"clip", func() { ops.Clip(x, 2, 4) }},
		{"where", func() { ops.Where(mask, x, same) }},
		{"cast", func() { ops.Cast(x, dtype.Float64) }},
		{"boolean_mask", func() { ops.BooleanMask(x, mask, 0) }},
		{"bin_count", func() { ragged.BinCountRows(ids, ragged.BinCountOptions{}) }},
		{"segment_sum", func() { ops.SegmentSum(x, few, 2) }},
		{"segment_max", func() { ops.SegmentMax(x, few, 2) }},
		{"to_sparse", func() { x.ToSparse() }},
		{"equal", func() { ops.Equal(x, same) }},
		{"exp", func() { ops.Exp(x) }},
		{"column_of_rows", func() { ops.Index(x, key.All, key.NewAxis) }},
		{"element", func() { ops.Index(x, 2, 1) }},
		{"cartesian", func() { ragged.Cartesian([]tensor.Tensor{x, same}, 1, ragged.CartesianOptions{}) }},
		{"concat/dense", func() { ops.Concat([]any{x, column}, 1) }},
		{"combinations", func() { ragged.Combinations(x, 2, 1, ragged.CombinationOptions{}) }},
		{"round_trip", func() {
			parts, _ := x.Spec().Disassemble(x)
			x.Spec().Assemble(parts)
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.f()
			}
		})
	}
}

// BenchmarkLarge measures throughput.
func BenchmarkLarge(b *testing.B) {
	rows := make([][]float32, 200_000)
	n := 0
	for i := range rows {
		rows[i] = make([]float32, i*7%16)
		n += len(rows[i])
	}
	x := ragged.FromSlices(rows)
	column := tensor.Of(make([]float32, len(rows)), len(rows), 1)
	lists := make([]any, len(rows))
	for i, r := range rows {
		l := make([]any, len(r))
		for k := range l {
			l[k] = float64(k)
		}
		lists[i] = l
	}
	for _, c := range []struct {
		name string
		f    func()
	}{
		{"add", func() { ops.Add(x, x) }},
		{"add/column", func() { ops.Add(x, column) }},
		{"from_slices", func() { ragged.FromSlices(rows) }},
		{"const", func() { ragged.Const(lists, ragged.Options{}) }},
		{"to_dense", func() { x.ToDense(ragged.DenseOptions{}) }},
		{"index/rows", func() { ops.Index(x, key.Range(nil, nil, -1)) }},
		{"index/in_rows", func() { ops.Index(x, key.All, key.From(1)) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(n) * 4)
			for b.Loop() {
				c.f()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/elem")
		})
	}
}
