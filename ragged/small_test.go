package ragged_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A smallCall calls an operation on about ten elements. Its name is that of the operation,
// or of the exported identifier of package ragged, and behind a slash the case.
type smallCall struct {
	name string
	f    func()
}

var (
	reductionFuncs = map[string]func(x any, axes ...int) T{
		"reduce_sum": ops.Sum, "reduce_prod": ops.Prod, "reduce_mean": ops.Mean, "reduce_max": ops.Max, "reduce_min": ops.Min,
		"reduce_variance": ops.Variance, "reduce_std": ops.Std, "reduce_any": ops.Any, "reduce_all": ops.All,
		"count_nonzero": ops.CountNonzero, "logsumexp": ops.LogSumExp,
	}
	cumulativeFuncs = map[string]func(x any, axis int, o ops.CumOptions) T{
		"cumsum": ops.CumSum, "cumprod": ops.CumProd, "cummax": ops.CumMax, "cummin": ops.CumMin, "logcumsumexp": ops.LogCumSumExp,
	}
)

// smallCalls has a call of each operation that takes ragged tensors, and of each function
// of package ragged.
func smallCalls() []smallCall {
	var (
		slice2   = [][]float32{{1, 2, 3}, nil, {4, 5}, {6, 7, 8, 9, 10}}
		x        = rag(slice2...)
		other    = rag(slice2...)
		same     = tenon.Must(x.WithFlatValues(other.FlatValues()))
		vectors  = tenon.Must(ragged.FromPartition(tensor.Of([]float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 5, 2), rag([]int64{0, 0}, nil, []int64{0}, []int64{0, 0}).Partition()))
		rowsRows = tenon.Must(ragged.FromRowSplits(x, []int{0, 2, 4}))
		column   = tensor.Of([]float32{1, 2, 3, 4}, 4, 1)
		perRow   = tensor.Of([]float32{1, 2, 3, 4})
		numbers  = tensor.Of([]int64{2, 0, 3})
		few      = tensor.Of([]int64{0, 1, 1, 0})
		mask     = ops.Greater(x, float32(2))
		rowMask  = tensor.Of([]bool{true, false, true, true})
		ids      = ops.Cast(ops.Mod(x, 4), dtype.Int64).(*ragged.Tensor)
		places   = rag([]int64{0}, nil, []int64{1, 0}, []int64{2})
		words    = ragged.FromSlices([][]string{{"a", "b", "c"}, nil, {"d", "e"}, {"f", "1", "2", "3", "4"}})
		digits   = ops.AsString(ids, ops.FormatOptions{})
		codes    = rag([]int32{97, 98, 99}, nil, []int32{100, 101}, []int32{102, 103, 104, 105, 106})
		complexs = ops.Cast(x, dtype.Complex64)
		long     = ops.ExpandDims(x, 0)
		padded   = tenon.Must(ragged.PadMissing(x, 3, 1, ragged.PadOptions{}))
		matrix   = tensor.Of([]float32{1, 2, 3, 4}, 2, 2)
		square   = tensor.Of([]float32{1, 2, 3, 0, 4, 5, 0, 6, 7}, 3, 3)
		key1     = ops.RandomKey(1)
		lengths  = []int{3, 0, 2, 5}
		splits   = x.RowSplits()
		lens     = tensor.Of([]int64{3, 0, 2, 5})
		rowIDs   = tensor.Of([]int64{0, 0, 0, 2, 2, 3, 3, 3, 3, 3})
		values   = x.FlatValues()
		mixed    = ragged.FromSlices([][]string{{"a b"}, {"c", "d e f"}})
		xShape   = ragged.ShapeOf(x)
		part     = x.Partition()
		lists    = []any{[]any{1., 2., 3.}, []any{}, []any{4., 5.}, []any{6., 7., 8., 9., 10.}}
		slice3   = [][][]float32{{{1, 2, 3}, nil}, {{4, 5}, {6, 7, 8, 9, 10}}}
	)
	lens10 := tensor.Of([]int64{10})
	matrices := tenon.Must(ragged.FromRowLengths(tensor.Of([]float32{1, 2, 3, 4, 5, 6, 7, 8}, 2, 2, 2), []int{1, 0, 1}))
	uniform := tenon.Must(ragged.FromUniformRowLength(tensor.Of([]float32{1, 2, 3, 4, 5, 6, 7, 8}), 2, nil))
	at, flatVals, box, _ := x.ToSparse()
	flatMask := ops.Greater(values, 2.0)
	var calls []smallCall
	add := func(name string, f func()) { calls = append(calls, smallCall{name, f}) }
	// Elementwise operations without attributes need no line of their own.
	for _, o := range op.All() {
		var one, two any = x, same
		switch {
		case len(o.Params) > 2:
			continue
		case strings.HasPrefix(o.Name, "strings."):
			one, two = words, words
		case strings.HasPrefix(o.Name, "bitwise"), strings.HasSuffix(o.Name, "_shift"), o.Name == "popcount":
			one, two = ids, ids
		case strings.HasPrefix(o.Name, "logical"):
			one, two = mask, mask
		case o.Name == "real", o.Name == "imag", o.Name == "conj", o.Name == "angle":
			one = complexs
		}
		switch {
		case o.IsUnaryElementwise() && len(o.Params) == 1:
			add(o.Name, func() { op.Eval(o, one) })
		case o.IsBinaryElementwise() && len(o.Params) == 2 && o.Params[1].Kind == o.Params[0].Kind:
			add(o.Name, func() { op.Eval(o, one, two) })
		}
	}
	for name, f := range reductionFuncs {
		var v any = x
		if name == "reduce_any" || name == "reduce_all" {
			v = mask
		}
		add(name+"/in_rows", func() { f(v, -1) })
		add(name+"/down", func() { f(v, 0) })
		add(name+"/all", func() { f(v) })
	}
	for name, f := range cumulativeFuncs {
		add(name+"/in_rows", func() { f(x, -1, ops.CumOptions{}) })
		add(name+"/down", func() { f(x, 0, ops.CumOptions{}) })
	}
	segments := map[string]func(data, ids, n any) T{
		"segment_sum": ops.SegmentSum, "segment_max": ops.SegmentMax, "segment_min": ops.SegmentMin, "segment_prod": ops.SegmentProd,
		"segment_mean": ops.SegmentMean, "segment_sqrt_n": ops.SegmentSqrtN, "segment_logsumexp": ops.SegmentLogSumExp, "segment_count_nonzero": ops.SegmentCountNonzero,
	}
	for name, f := range segments {
		add(name, func() { f(x, few, 2) })
	}
	add("segment_any", func() { ops.SegmentAny(mask, few, 2) })
	add("segment_all", func() { ops.SegmentAll(mask, few, 2) })
	news := tenon.Must(places.WithFlatValues(tensor.Of([]float32{1, 2, 3, 4})))
	both := []tensor.Tensor{x, same}
	calls = append(calls, []smallCall{
		{"add/equal", func() { ops.Add(x, other) }},
		{"dot", func() { ops.Dot(x, same) }},
		{"add/scalar", func() { ops.Add(x, 2.0) }},
		{"add/column", func() { ops.Add(x, column) }},
		{"add/vector", func() { ops.Add(vectors, tensor.Of([]float32{1, 2})) }},
		{"argmax/in_rows", func() { ops.ArgMax(x, -1) }},
		{"argmin/in_rows", func() { ops.ArgMin(x, -1) }},
		{"argmax/down", func() { ops.ArgMax(x, 0) }},
		{"norm/in_rows", func() { ops.Norm(x, 2, -1) }},
		{"norm/one", func() { ops.Norm(x, 1, -1) }},
		{"norm/all", func() { ops.Norm(x, 2) }},
		{"softmax", func() { ops.Softmax(x, -1) }},
		{"log_softmax", func() { ops.LogSoftmax(x, -1) }},
		{"sort", func() { ops.Sort(x, -1, ops.SortOptions{}) }},
		{"sort/down", func() { ops.Sort(x, 0, ops.SortOptions{}) }},
		{"argsort", func() { ops.ArgSort(x, -1, ops.SortOptions{}) }},
		{"top_k", func() { ops.TopK(x, 2) }},
		{"unique", func() { ops.Unique(x) }},
		{"layer_norm", func() { ops.LayerNorm(x, nil, nil, 1e-5, -1) }},
		{"layer_norm/vectors", func() { ops.LayerNorm(vectors, nil, nil, 1e-5, -1) }},
		{"rms_norm", func() { ops.RMSNorm(x, nil, 1e-5, -1) }},
		{"linear_scan", func() { ops.LinearScan(x, same, 1, false) }},
		{"softmax_cross_entropy", func() {
			ops.SoftmaxCrossEntropy(vectors, tenon.Must(ragged.FromPartition(tensor.Of([]int64{0, 1, 0, 1, 0}), vectors.Partition())))
		}},
		{"softmax_cross_entropy_dense", func() { ops.SoftmaxCrossEntropyDense(vectors, vectors) }},
		{"dropout", func() { ops.Dropout(key1, x, 0.5) }},
		{"band_part", func() { ops.BandPart(matrices, 0, 1) }},
		{"bitcast", func() { ops.Bitcast(x, dtype.Int32) }},
		{"cast", func() { ops.Cast(x, dtype.Float64) }},
		{"check_numerics", func() { ops.CheckNumerics(x, "") }},
		{"ensure_shape", func() { ops.EnsureShape(x, shape.Of(4, shape.Unknown)) }},
		{"clip", func() { ops.Clip(x, 2, 4) }},
		{"elu", func() { ops.Elu(x, 1) }},
		{"leaky_relu", func() { ops.LeakyRelu(x, 0.1) }},
		{"polygamma", func() { ops.Polygamma(x, 1) }},
		{"fma", func() { ops.FMA(x, same, x) }},
		{"lerp", func() { ops.Lerp(x, same, 0.5) }},
		{"where", func() { ops.Where(mask, x, same) }},
		{"where/scalar", func() { ops.Where(mask, x, 0.0) }},
		{"bincount", func() { ops.BinCount(ids, ops.BinCountOptions{}) }},
		{"histogram", func() { ops.Histogram(x, []float32{0, 10}, 5) }},
		{"nonzero", func() { ops.Nonzero(x) }},
		{"searchsorted", func() { ops.SearchSorted(perRow, x, false) }},
		{"sequence_mask", func() { ops.SequenceMask(ids, 4) }},
		{"boolean_mask", func() { ops.BooleanMask(x, mask, 0) }},
		{"boolean_mask/rows", func() { ops.BooleanMask(x, rowMask, 0) }},
		{"concat/rows", func() { ops.Concat(both, 0) }},
		{"concat/in_rows", func() { ops.Concat(both, 1) }},
		{"concat/dense", func() { ops.Concat([]any{x, column}, 1) }},
		{"stack/rows", func() { ops.Stack(both, 0) }},
		{"stack/in_rows", func() { ops.Stack(both, 1) }},
		{"stack/elements", func() { ops.Stack(both, -1) }},
		{"split", func() { ops.Split(x, 2, 0) }},
		{"split/sizes", func() { ops.Split(x, []int{1, 3}, 0) }},
		{"unstack", func() { ops.Unstack(x, 0) }},
		{"tile/rows", func() { ops.Tile(x, []int{2, 1}) }},
		{"tile/in_rows", func() { ops.Tile(x, []int{1, 2}) }},
		{"repeat/rows", func() { ops.Repeat(x, 2, 0) }},
		{"repeat/in_rows", func() { ops.Repeat(x, 2, 1) }},
		{"repeat/each", func() { ops.Repeat(x, few, 0) }},
		{"expand_dims/0", func() { ops.ExpandDims(x, 0) }},
		{"expand_dims/1", func() { ops.ExpandDims(x, 1) }},
		{"expand_dims/-1", func() { ops.ExpandDims(x, -1) }},
		{"squeeze", func() { ops.Squeeze(long, 0) }},
		{"reshape", func() { ops.Reshape(x, []int{-1}) }},
		{"reverse/rows", func() { ops.Reverse(x, 0) }},
		{"reverse/in_rows", func() { ops.Reverse(x, 1) }},
		{"roll/rows", func() { ops.Roll(x, 1, 0) }},
		{"roll/in_rows", func() { ops.Roll(x, 1, 1) }},
		{"shift", func() { ops.Shift(x, 1, 1) }},
		{"pad", func() { ops.Pad(x, [][]int{{0, 0}, {1, 1}}, ops.PadOptions{}) }},
		{"slice", func() { ops.Slice(x, []int{1, 0}, []int{2, 2}) }},
		{"transpose", func() { ops.Transpose(vectors, 0, 1, 2) }},
		{"gather", func() { ops.Gather(x, numbers, 0) }},
		{"gather/dense", func() { ops.Gather(values, ids, 0) }},
		{"gather/batched", func() { ops.GatherBatched(x, places, 1, 1) }},
		{"gather_nd", func() { ops.GatherND(x, [][]int64{{0, 1}, {2, 0}}, 0) }},
		{"take_along_axis", func() { ops.TakeAlongAxis(x, places, 1) }},
		{"put_along_axis", func() { ops.PutAlongAxis(x, places, news, 1) }},
		{"one_hot", func() { ops.OneHot(ids, 4, -1, ops.OneHotOptions{}) }},
		{"attention", func() { ops.Attention(vectors, vectors, vectors, ops.AttentionOptions{Causal: true}) }},
		{"matmul", func() { ops.MatMul(vectors, matrix) }},
		{"matmul/rows", func() { ops.MatMulT(vectors, vectors, false, true) }},
		{"matvec", func() { ops.MatVec(vectors, []float32{1, 2}) }},
		{"einsum", func() { ops.Einsum("btd,de->bte", vectors, matrix) }},
		{"shape/refused", func() { tenon.Try(func() T { return ops.Shape(x) }) }},
		{"rank", func() { ops.Rank(x) }},
		{"size", func() { ops.Size(x) }},
		{"index/row", func() { ops.Index(x, 2) }},
		{"index/range", func() { ops.Index(x, key.Range(1, 3, nil)) }},
		{"index/in_rows", func() { ops.Index(x, key.All, key.From(1)) }},
		{"index/backwards", func() { ops.Index(x, key.All, key.Range(nil, nil, -1)) }},
		{"index/element", func() { ops.Index(x, 2, 1) }},
		{"index/new_axis", func() { ops.Index(x, key.All, key.NewAxis) }},
		{"index/rows", func() { ops.Index(x, numbers) }},
		{"index/positions", func() { ops.Index(x, places) }},
		{"index/mask", func() { ops.Index(x, mask) }},
		{"index/ellipsis", func() { ops.Index(vectors, key.Ellipsis, 0) }},
		{"index_update/row", func() { ops.IndexUpdate(x, 0.0, 2) }},
		{"index_update/in_rows", func() { ops.IndexUpdate(x, 0.0, key.All, key.From(1)) }},
		{"strings.as_string", func() { ops.AsString(ids, ops.FormatOptions{}) }},
		{"strings.hash", func() { ops.StringHash(words, 10, ops.HashOptions{}) }},
		{"strings.join", func() { ops.StringJoin([]tensor.Tensor{words, words}, "") }},
		{"strings.length", func() { ops.StringLength(words, ops.UnitByte) }},
		{"strings.lower", func() { ops.StringLower(words, ops.UnitByte) }},
		{"strings.upper", func() { ops.StringUpper(words, ops.UnitByte) }},
		{"strings.ngrams", func() { ops.StringNGrams(words, []int{2}, ops.NGramOptions{}) }},
		{"strings.reduce_join", func() { ops.StringReduceJoin(words, "", -1) }},
		{"strings.regex_full_match", func() { ops.StringRegexFullMatch(words, "[a-c]") }},
		{"strings.regex_replace", func() { ops.StringRegexReplace(words, "[a-c]", "x", ops.RegexReplaceOptions{}) }},
		{"strings.substr", func() { ops.StringSubstr(words, 0, 1, ops.UnitByte) }},
		{"strings.to_number", func() { ops.StringToNumber(digits, dtype.Float32) }},
		{"strings.unicode_encode", func() { ops.StringEncode(codes, nil, "UTF-8", ops.UnicodeOptions{}) }},
		{"strings.unicode_transcode", func() { ops.StringTranscode(words, "UTF-8", "UTF-8", ops.UnicodeOptions{}) }},

		{"ArgCartesian", func() { tenon.Must(ragged.ArgCartesian(both, 1, ragged.CartesianOptions{})) }},
		{"ArgCombinations", func() { tenon.Must(ragged.ArgCombinations(x, 2, 1, ragged.CombinationOptions{})) }},
		{"BinCountRows", func() { tenon.Must(ragged.BinCountRows(ids, ragged.BinCountOptions{})) }},
		{"BooleanMask", func() { tenon.Must(ragged.BooleanMask(x, mask)) }},
		{"BroadcastRows", func() { tenon.Must(ragged.BroadcastRows([]tensor.Tensor{x, perRow}, ragged.BroadcastRowsOptions{})) }},
		{"BroadcastShapes", func() { ragged.BroadcastShapes(xShape, xShape) }},
		{"BroadcastTo", func() { tenon.Must(ragged.BroadcastTo(column, xShape)) }},
		{"Cartesian", func() { tenon.Must(ragged.Cartesian(both, 1, ragged.CartesianOptions{})) }},
		{"Choose", func() { tenon.Must(ragged.Choose(rowMask, x, same)) }},
		{"Combinations", func() { tenon.Must(ragged.Combinations(x, 2, 1, ragged.CombinationOptions{})) }},
		{"Const", func() { tenon.Must(ragged.Const(lists, ragged.Options{})) }},
		{"Count", func() { tenon.Must(ragged.Count(x, -1)) }},
		{"Count/all", func() { tenon.Must(ragged.Count(x)) }},
		{"CountKeep", func() { tenon.Must(ragged.CountKeep(x, -1)) }},
		{"DecodeStrings", func() { tenon.Must(ragged.DecodeStrings(words, "UTF-8", ops.UnicodeOptions{})) }},
		{"DecodeStringsWithOffsets", func() { ragged.DecodeStringsWithOffsets(words, "UTF-8", ops.UnicodeOptions{}) }},
		{"DropMissing", func() { tenon.Must(ragged.DropMissing(padded)) }},
		{"DynamicPartition", func() { tenon.Must(ragged.DynamicPartition(x, few, 2)) }},
		{"DynamicStitch", func() { tenon.Must(ragged.DynamicStitch([]tensor.Tensor{few, few}, both)) }},
		{"EmbeddingLookup", func() { tenon.Must(ragged.EmbeddingLookup(column, ids, ragged.EmbeddingOptions{})) }},
		{"EmbeddingLookup/sum", func() {
			tenon.Must(ragged.EmbeddingLookup(column, ids, ragged.EmbeddingOptions{Combiner: ragged.SumRows}))
		}},
		{"EmbeddingLookup/weights", func() {
			tenon.Must(ragged.EmbeddingLookup(column, ids, ragged.EmbeddingOptions{Combiner: ragged.MeanRows, Weights: x}))
		}},
		{"Fill", func() { tenon.Must(ragged.Fill(xShape, 1.0)) }},
		{"FillMissing", func() { tenon.Must(ragged.FillMissing(padded, 0)) }},
		{"Firsts", func() { tenon.Must(ragged.Firsts(x, 1)) }},
		{"Flatten", func() { tenon.Must(ragged.Flatten(x, 1)) }},
		{"Flatten/rows", func() { tenon.Must(ragged.Flatten(rowsRows, 2)) }},
		{"FlattenAll", func() { tenon.Must(ragged.FlattenAll(rowsRows)) }},
		{"FromNestedRowLengths", func() { tenon.Must(ragged.FromNestedRowLengths(values, []int{2, 2}, lengths)) }},
		{"FromNestedRowSplits", func() { tenon.Must(ragged.FromNestedRowSplits(values, []int{0, 2, 4}, []int{0, 3, 3, 5, 10})) }},
		{"FromNestedValueRowIDs", func() {
			tenon.Must(ragged.FromNestedValueRowIDs(values, []any{[]int{0, 0, 1, 1}, rowIDs}, []any{2, 4}))
		}},
		{"FromPartitions", func() { tenon.Must(ragged.FromPartitions(values, part)) }},
		{"FromRegular", func() { tenon.Must(ragged.FromRegular(matrix, 1)) }},
		{"ToRegular", func() { tenon.Must(ragged.ToRegular(uniform, 1)) }},
		{"IsMissing", func() { tenon.Must(ragged.IsMissing(padded, 0)) }},
		{"IsMissing/in_rows", func() { tenon.Must(ragged.IsMissing(padded, 1)) }},
		{"LocalIndex", func() { tenon.Must(ragged.LocalIndex(x, 1)) }},
		{"MapFlatValues", func() { tenon.Must(ragged.MapFlatValues(func(f ...T) T { return f[0] }, x)) }},
		{"Mask", func() { tenon.Must(ragged.Mask(x, mask)) }},
		{"Mask/rows", func() { tenon.Must(ragged.Mask(x, rowMask)) }},
		{"MergeDims", func() { tenon.Must(ragged.MergeDims(rowsRows, 0, 1)) }},
		{"NaNToMissing", func() { tenon.Must(ragged.NaNToMissing(x)) }},
		{"Num", func() { tenon.Must(ragged.Num(x, 1)) }},
		{"PadMissing", func() { tenon.Must(ragged.PadMissing(x, 3, 1, ragged.PadOptions{})) }},
		{"PadMissing/clip", func() { tenon.Must(ragged.PadMissing(x, 3, 1, ragged.PadOptions{Clip: true})) }},
		{"Pick", func() { tenon.Must(ragged.Pick(x, -1, ragged.PickOptions{Fill: 0.0})) }},
		{"PickFound", func() { ragged.PickFound(x, -1) }},
		{"Ravel", func() { tenon.Must(ragged.Ravel(x)) }},
		{"Reshape", func() { tenon.Must(ragged.Reshape(values, xShape)) }},
		{"RunLengths", func() { tenon.Must(ragged.RunLengths(x)) }},
		{"Singletons", func() { tenon.Must(ragged.Singletons(values, 0)) }},
		{"Singletons/masked", func() { tenon.Must(ragged.Singletons(tenon.Must(ragged.Mask(values, flatMask)), 0)) }},
		{"Slices", func() { tenon.Must(ragged.Slices[float32](x)) }},
		{"Slices2", func() { tenon.Must(ragged.Slices2[float32](rowsRows)) }},
		{"SplitBytes", func() { tenon.Must(ragged.SplitBytes(mixed)) }},
		{"SplitChars", func() { tenon.Must(ragged.SplitChars(mixed, "UTF-8", ops.UnicodeOptions{})) }},
		{"SplitStrings", func() { tenon.Must(ragged.SplitStrings(mixed, ops.SplitOptions{})) }},
		{"Stack", func() { tenon.Must(ragged.Stack(both, 0)) }},
		{"Unflatten", func() { tenon.Must(ragged.Unflatten(values, lens, 0)) }},
		{"WithRaggedRank", func() { tenon.Must(ragged.WithRaggedRank(matrix, 1)) }},
		{"NewBuilder", func() {
			b := ragged.NewBuilder[float32](1)
			for _, r := range slice2 {
				b.Append(r...).EndRow(0)
			}
			tenon.Must(b.Build())
		}},
		{"NewPartitionSpec", func() { tenon.Must(ragged.NewPartitionSpec(dtype.Int64, 4, 10, -1)) }},
		{"PartitionFromRowLengths", func() { tenon.Must(ragged.PartitionFromRowLengths(lens, ragged.PartitionOptions{})) }},
		{"PartitionFromRowLimits", func() { tenon.Must(ragged.PartitionFromRowLimits([]int{3, 3, 5, 10}, ragged.PartitionOptions{})) }},
		{"PartitionFromRowSplits", func() { tenon.Must(ragged.PartitionFromRowSplits(splits, ragged.PartitionOptions{})) }},
		{"PartitionFromRowStarts", func() {
			tenon.Must(ragged.PartitionFromRowStarts([]int{0, 3, 3, 5}, ragged.PartitionOptions{NVals: 10}))
		}},
		{"PartitionFromUniformRowLength", func() { tenon.Must(ragged.PartitionFromUniformRowLength(2, ragged.PartitionOptions{NRows: 5})) }},
		{"PartitionFromValueRowIDs", func() { tenon.Must(ragged.PartitionFromValueRowIDs(rowIDs, ragged.PartitionOptions{})) }},
		{"NewShape", func() { tenon.Must(ragged.NewShape([]*ragged.RowPartition{part}, lens10)) }},
		{"ShapeFromLengths", func() { tenon.Must(ragged.ShapeFromLengths([]any{4, lengths}, ragged.ShapeOptions{})) }},
		{"ShapeFromPartitions", func() { tenon.Must(ragged.ShapeFromPartitions(part)) }},
		{"ShapeOf", func() { ragged.ShapeOf(x) }},
		{"As", func() { ragged.As(values) }},
		{"FromSpecs", func() { ragged.FromSpecs(values.Spec(), []*ragged.PartitionSpec{part.Spec().(*ragged.PartitionSpec)}) }},
		{"NewSpec", func() { tenon.Must(ragged.NewSpec(dtype.Float32, shape.Of(4, shape.Unknown), 1, dtype.Int64)) }},
		{"Cross", func() { tenon.Must(ragged.Cross([]tensor.Tensor{words, words})) }},
		{"CrossHashed", func() { tenon.Must(ragged.CrossHashed([]tensor.Tensor{words, words}, ragged.CrossOptions{})) }},
		{"FromDense", func() { tenon.Must(ragged.FromDense(square, ragged.FromDenseOptions{})) }},
		{"FromDense/lengths", func() { tenon.Must(ragged.FromDense(square, ragged.FromDenseOptions{Lengths: []int{3, 1, 2}})) }},
		{"FromDense/padding", func() { tenon.Must(ragged.FromDense(square, ragged.FromDenseOptions{Padding: 0.0})) }},
		{"FromOffsets", func() { tenon.Must(ragged.FromOffsets(values, splits)) }},
		{"FromPartition", func() { tenon.Must(ragged.FromPartition(values, part)) }},
		{"FromRowLengths", func() { tenon.Must(ragged.FromRowLengths(values, lens)) }},
		{"FromRowLimits", func() { tenon.Must(ragged.FromRowLimits(values, []int{3, 3, 5, 10})) }},
		{"FromRowSplits", func() { tenon.Must(ragged.FromRowSplits(values, splits)) }},
		{"FromRowStarts", func() { tenon.Must(ragged.FromRowStarts(values, []int{0, 3, 3, 5})) }},
		{"FromSlices", func() { ragged.FromSlices(slice2) }},
		{"FromSlices2", func() { ragged.FromSlices2(slice3) }},
		{"FromSparse", func() { tenon.Must(ragged.FromSparse(at, flatVals, box, dtype.None)) }},
		{"FromUniformRowLength", func() { tenon.Must(ragged.FromUniformRowLength(values, 5, nil)) }},
		{"FromValueRowIDs", func() { tenon.Must(ragged.FromValueRowIDs(values, rowIDs, nil)) }},
		{"Range", func() { tenon.Must(ragged.Range(0, lens, 1, ragged.RangeOptions{})) }},
		{"StackDynamicPartitions", func() { tenon.Must(ragged.StackDynamicPartitions(perRow, few, 2)) }},
		{"Tensor.BoundingShape", func() { tenon.Must(x.BoundingShape()) }},
		{"Tensor.Index", func() { tenon.Must(x.Index(2)) }},
		{"Tensor.Nested", func() { tenon.Must(x.Nested()) }},
		{"Tensor.RowLengths", func() { tenon.Must(x.RowLengths(1)) }},
		{"Tensor.ToDense", func() { tenon.Must(x.ToDense(ragged.DenseOptions{})) }},
		{"Tensor.ToDense/shape", func() { tenon.Must(x.ToDense(ragged.DenseOptions{Default: 1.0, Shape: []int{4, 3}})) }},
		{"Tensor.ToDense/rows", func() { tenon.Must(rowsRows.ToDense(ragged.DenseOptions{})) }},
		{"Tensor.ToSparse", func() { x.ToSparse() }},
		{"Tensor.WithFlatValues", func() { tenon.Must(x.WithFlatValues(values)) }},
		{"Tensor.WithSplitsDType", func() { tenon.Must(x.WithSplitsDType(dtype.Int32)) }},
		{"Tensor.Spec", func() {
			parts, _ := x.Spec().Disassemble(x)
			tenon.Must(x.Spec().Assemble(parts))
		}},
		{"RowPartition.MergeEncodings", func() { tenon.Must(part.MergeEncodings(other.Partition())) }},
		{"Shape.Slice", func() { tenon.Must(xShape.Slice(0, 1)) }},
		{"Shape.WithInnerRank", func() { tenon.Must(ragged.ShapeOf(matrix).WithInnerRank(1)) }},
	}...)
	slices.SortStableFunc(calls, func(a, b smallCall) int { return strings.Compare(a.name, b.name) })
	return calls
}

// BenchmarkCalls measures what each operation costs on about ten elements.
func BenchmarkCalls(b *testing.B) {
	for _, c := range smallCalls() {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.f()
			}
		})
	}
}

// TestCalls: what the benchmark calls is right.
func TestCalls(t *testing.T) {
	for _, c := range smallCalls() {
		if _, err := tenon.Try(func() int { c.f(); return 0 }); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
