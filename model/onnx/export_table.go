package onnx

import (
	"maps"
	"slices"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
)

// opsetWritten is the version of the operations that are written, and irWritten that of the
// file format: those of 2024, which other programs support by now.
const (
	opsetWritten = 21
	irWritten    = 10
)

// An export says how an operation is written: as nodes by write or, if write returns nil for a
// call, in terms of other operations.
type export struct {
	write  func(e *node) []string
	expand func(c *op.Call) []T
}

// exports maps the names of operations to how they are written, beside the statements.
var exports map[string]export

// Written returns the sorted names of Tenon's operations that can be written as ONNX.
func Written() []string { return slices.Sorted(maps.Keys(exports)) }

// written is an operation that is written as nodes with one result, or in terms of other
// operations if f returns "".
func written(f func(e *node) string) export {
	return export{write: func(e *node) []string {
		if name := f(e); name != "" {
			return []string{name}
		}
		return nil
	}}
}

// by is an operation that is written in terms of others.
func by(f func(c *op.Call) T) export {
	return export{expand: func(c *op.Call) []T { return []T{f(c)} }}
}

// or adds how a call is expressed by other operations if nodes cannot.
func (x export) or(f func(c *op.Call) T) export {
	x.expand = by(f).expand
	return x
}

// of1 and of2 are operations of one and two operands that are written in terms of others.
func of1(f func(x T) T) export { return by(func(c *op.Call) T { return f(c.Tensor(0)) }) }

func of2(f func(x, y T) T) export {
	return by(func(c *op.Call) T { return f(c.Tensor(0), c.Tensor(1)) })
}

// node1 is an operation that ONNX has, applied to the first operands of a call.
func node1(operation string, types typeSet, attrs ...attr) export {
	return written(func(e *node) string { return e.typed(operation, types, e.ins(), attrs...) })
}

// ins returns the names of all tensors of the call.
func (e *node) ins() []string {
	var out []string
	for _, v := range e.c.Values() {
		out = append(out, e.name(v))
	}
	return out
}

// same is an operation that does nothing, or only checks.
var same = written(func(e *node) string { return e.in(0) })

func init() { // a function, because operations write graphs, which look up operations
	exports = map[string]export{
		// Elements.
		"identity": same, "stop_gradient": same, "ensure_shape": same, "check_numerics": same,
		"is_inf":  written(infinite).or(func(c *op.Call) T { return never(c.Tensor(0)) }),
		"maximum": node1("Max", reals), "minimum": node1("Min", reals), "pow": node1("Pow", powers), "div": written(divided),
		"gelu": written(single("Gelu", floating)).or(geluOf), "gelu_tanh": written(single("Gelu", floating, withText("approximate", "tanh"))).or(geluTanhOf),
		"hard_silu": written(single("HardSwish", classic)).or(func(c *op.Call) T { return ops.Mul(c.Tensor(0), hardSigmoid(c.Tensor(0), 1./6, 0.5)) }),
		"cast":      written(converted), "clip": written(clipped).or(between),
		"elu": written(withAlpha("Elu", classic)).or(func(c *op.Call) T {
			x := c.Tensor(0)
			return ops.Where(ops.Greater(x, like(0, x)), x, ops.Mul(ops.Expm1(x), like(c.Float(1), x)))
		}),
		"leaky_relu": written(withAlpha("LeakyRelu", floating)).or(func(c *op.Call) T {
			x := c.Tensor(0)
			return ops.Where(ops.Greater(x, like(0, x)), x, ops.Mul(x, like(c.Float(1), x)))
		}),
		"hard_sigmoid": of1(func(x T) T { return hardSigmoid(x, 1./6, 0.5) }),
		"selu":         of1(seluOf),
		"silu":         of1(func(x T) T { return ops.Mul(x, ops.Sigmoid(x)) }),
		"relu6":        of1(func(x T) T { return ops.Clip(x, like(0, x), like(6, x)) }),
		"atan2":        of2(angleOf), "cbrt": of1(cubeRoot), "erfc": of1(func(x T) T { return ops.Sub(like(1, x), ops.Erf(x)) }),
		"exp2": of1(func(x T) T { return ops.Pow(like(2, x), x) }), "expm1": of1(expm1), "log1p": of1(log1p),
		"log10": of1(func(x T) T { return logarithm(x, 10) }), "log2": of1(func(x T) T { return logarithm(x, 2) }),
		"floor_div": of2(floorDiv), "truncate_div": written(truncated).or(truncateDiv), "mod": written(remainder).or(floorMod), "truncate_mod": written(func(e *node) string { return e.typed("Mod", reals, e.ins(), withInt("fmod", 1)) }),
		"trunc": of1(trunc), "fma": by(func(c *op.Call) T { return ops.Add(ops.Mul(c.Tensor(0), c.Tensor(1)), c.Tensor(2)) }),
		"hypot": of2(hypot), "is_finite": of1(func(x T) T { return ops.LogicalNot(ops.LogicalOr(ops.IsNaN(x), ops.IsInf(x))) }),
		"left_shift": written(shifted("LEFT")), "right_shift": written(shifted("RIGHT")),
		"lerp": by(func(c *op.Call) T {
			return ops.Add(c.Tensor(0), ops.Mul(c.Tensor(2), ops.Sub(c.Tensor(1), c.Tensor(0))))
		}),
		"log_add_exp": of2(logAddExp), "log_sigmoid": of1(func(x T) T { return ops.Neg(ops.Softplus(ops.Neg(x))) }),
		"logit":      of1(func(x T) T { return ops.Log(ops.Div(x, ops.Sub(like(1, x), x))) }),
		"nan_to_num": of1(nanToNum), "not_equal": of2(func(x, y T) T { return ops.LogicalNot(ops.Equal(x, y)) }),
		"ones_like": of1(func(x T) T { return ops.Fill(ops.Shape(x), like(1, x)) }), "zeros_like": of1(func(x T) T { return ops.Fill(ops.Shape(x), zeroOf(x)) }),
		"rsqrt": of1(func(x T) T { return ops.Reciprocal(ops.Sqrt(x)) }), "square": of1(func(x T) T { return ops.Mul(x, x) }),
		"squared_difference": of2(func(x, y T) T { d := ops.Sub(x, y); return ops.Mul(d, d) }),
		"sigmoid_cross_entropy": of2(func(x, y T) T {
			return ops.Add(ops.Sub(ops.Relu(x), ops.Mul(x, y)), ops.Softplus(ops.Neg(ops.Abs(x))))
		}),
		"xlogy":   of2(func(x, y T) T { return ops.Where(ops.Equal(x, like(0, x)), like(0, x), ops.Mul(x, ops.Log(y))) }),
		"xlog1py": of2(func(x, y T) T { return ops.Where(ops.Equal(x, like(0, x)), like(0, x), ops.Mul(x, ops.Log1p(y))) }),

		// Reductions and cumulative operations.
		"reduce_sum": written(sumPooled), "reduce_prod": written(reduced("ReduceProd", products)),
		"reduce_max": written(maxPooled), "reduce_min": written(reduced("ReduceMin", reals)),
		"reduce_mean": written(meanPooled).or(meanOf), "logsumexp": written(reduced("ReduceLogSumExp", floating)),
		"reduce_all": by(func(c *op.Call) T { return truths(c, ops.MinKeep, ops.Min) }), "reduce_any": by(func(c *op.Call) T { return truths(c, ops.MaxKeep, ops.Max) }),
		"reduce_variance": by(variance), "reduce_std": by(func(c *op.Call) T { return ops.Sqrt(variance(c)) }),
		"count_nonzero": by(countNonzero), "norm": written(normed).or(normOf), "argmax": written(argOf("ArgMax")), "argmin": written(argOf("ArgMin")),
		"softmax": written(alongAxis("Softmax", floating)), "log_softmax": written(alongAxis("LogSoftmax", floating)),
		"softmax_grad": by(softmaxGrad), "log_softmax_grad": by(logSoftmaxGrad),
		"cumsum":       written(running),
		"cumprod":      by(runs(func(x T) T { return like(1, x) }, ops.Mul)),
		"cummax":       by(runs(leastOf, ops.Maximum)),
		"cummin":       by(runs(greatestOf, ops.Minimum)),
		"logcumsumexp": by(runs(leastOf, ops.LogAddExp)),
		"linear_scan":  by(linearScan),
		"sort":         {write: sorted}, "argsort": {write: argSorted}, "top_k": {write: topKOf}, "unique": {write: uniqueOf},
		"searchsorted": by(searchSorted),

		// Shapes and positions.
		"shape": written(func(e *node) string { return e.do("Shape", e.ins()) }), "size": written(func(e *node) string { return e.do("Size", e.ins()) }),
		"rank":      of1(func(x T) T { return ops.Size(ops.Shape(x)) }),
		"reshape":   written(func(e *node) string { return e.do("Reshape", []string{e.in(0), e.int64s(1)}, withInt("allowzero", 1)) }),
		"transpose": written(transposed), "expand_dims": written(func(e *node) string { return e.do("Unsqueeze", []string{e.in(0), e.vector(e.c.Ints(1)...)}) }),
		"squeeze": written(squeezedOf), "broadcast_to": written(func(e *node) string { return e.do("Expand", []string{e.in(0), e.int64s(1)}) }),
		"fill":   written(func(e *node) string { return e.do("Expand", []string{e.in(1), e.int64s(0)}) }),
		"spread": by(spread), "sum_to": written(summedTo), "eye": by(eye), "linspace": by(linspace), "range": written(rangeOf),
		"concat": written(func(e *node) string { return e.do("Concat", e.list(0), withInt("axis", e.c.Int(1))) }),
		"stack":  by(stack), "split": {write: splitOf}, "unstack": {write: unstackOf},
		"tile":   written(func(e *node) string { return e.do("Tile", []string{e.in(0), e.int64s(1)}) }),
		"repeat": by(repeat), "reverse": written(turnedRound), "reverse_sequence": written(reversedRows), "roll": by(roll), "shift": by(shift),
		"index": written(indexed), "index_update": by(indexUpdate), "slice": written(sliced), "pad": written(padded), "mirror_pad": by(mirrorPad),
		"gather": written(gathered).or(gatherBatched), "gather_nd": written(func(e *node) string {
			return e.do("GatherND", []string{e.in(0), e.int64s(1)}, withInt("batch_dims", e.c.Int(2)))
		}),
		"take_along_axis": written(func(e *node) string {
			return e.do("GatherElements", []string{e.in(0), e.int64s(1)}, withInt("axis", e.c.Int(2)))
		}),
		"put_along_axis": written(putAlong), "scatter_nd": by(scatterZeros),
		"tensor_scatter_add": written(scattered("add")), "tensor_scatter_max": written(scattered("max")), "tensor_scatter_min": written(scattered("min")), "tensor_scatter_update": written(scattered("none")),
		"boolean_mask": by(booleanMask), "nonzero": written(nonzeroOf),
		"diag": of1(diag), "diag_part": of1(diagPart), "band_part": written(band), "one_hot": by(oneHotOf), "sequence_mask": by(sequenceMask),
		"bincount": by(bincount), "windows": by(windowsOf), "fold_windows": by(foldWindows), "max_windows": by(maxWindows),

		// Products, layers and losses.
		"matmul": written(matMulOf), "matvec": of2(matVec), "dot": of2(func(x, y T) T { return ops.Sum(ops.Mul(x, y), -1) }), "outer": of2(outer),
		"contract": written(contracted), "einsum": written(einsumOf), "convolve": written(convolved), "convolve_transpose": written(convolvedBack),
		"layer_norm": written(layerNormed).or(layerNormOf), "rms_norm": by(rmsNormOf), "attention": by(attentionOf),
		"softmax_cross_entropy": of2(crossEntropy),
		"softmax_cross_entropy_dense": of2(func(x, y T) T {
			return ops.Neg(ops.Sum(ops.Where(ops.Equal(y, like(0, y)), like(0, y), ops.Mul(y, ops.LogSoftmax(x, -1))), -1))
		}),

		// Rows and segments.
		"segment_sum": written(segmented("add", zeroOf)), "segment_prod": written(segmented("mul", func(x T) T { return like(1, x) })),
		"segment_max": written(segmented("max", leastOf)), "segment_min": written(segmented("min", greatestOf)), "segment_logsumexp": by(segmentLogSum),
		"segment_mean": by(segmentMean), "segment_sqrt_n": by(segmentSqrtN),
		"segment_any": by(segmentTruths(ops.SegmentMax)), "segment_all": by(segmentTruths(ops.SegmentMin)),
		"segment_count_nonzero": by(segmentCount),
		"ragged.row_ids":        by(func(c *op.Call) T { return rowIDs(c.Tensor(0)) }), "ragged.lengths": of1(rowLengths),
		"ragged.validate_splits": same, "ragged.assert_same_splits": same, "ragged.embedding_bag": by(embeddingBag),
		"ragged.sum": by(ofRows(numbersOf(dtype.Int64, ops.SegmentSum))), "ragged.prod": by(ofRows(numbersOf(dtype.Int64, ops.SegmentProd))), "ragged.max": by(ofRows(ops.SegmentMax)), "ragged.min": by(ofRows(ops.SegmentMin)),
		"ragged.mean": by(ofRows(numbersOf(dtype.Float64, ops.SegmentMean))), "ragged.any": by(ofRows(ops.SegmentAny)), "ragged.all": by(ofRows(ops.SegmentAll)),
		"ragged.count_nonzero": by(ofRows(ops.SegmentCountNonzero)),
		"ragged.softmax":       by(func(c *op.Call) T { return softmaxOfRows(c.Tensor(0), c.Tensor(1)) }),
		"ragged.repeat":        by(func(c *op.Call) T { return ops.Gather(c.Tensor(0), rowIDs(c.Tensor(1)), 0) }),

		// Control flow and functions.
		"control.switch": {write: switched}, "control.while": {write: whiled}, "control.scan": {write: scanned},
		"grad.custom": {write: inlinedCall}, "grad.call": {write: inlinedCall},

		// Strings.
		"strings.join": written(joined), "strings.regex_full_match": written(func(e *node) string { return e.do("RegexFullMatch", e.ins(), withText("pattern", e.c.Str(1))) }),
		"strings.to_number": written(func(e *node) string { return e.cast(e.in(0), e.Outs[0].DType()) }),
	}
	for _, s := range statements {
		exports[s.op] = s.written()
	}
}
