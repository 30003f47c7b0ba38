package onnx

import (
	"maps"
	"math"
	"slices"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
)

// The supported versions of ONNX's operations.
const (
	oldestOpset = 6
	NewestOpset = 27
)

// table has the operations of ONNX by name; those of other domains are prefixed by the domain.
// If versions of an operation differ, the call tells the version.
var table map[string]impl

func lookup(n *protoNode) impl {
	if n.domain == "" {
		return table[n.op]
	}
	return table[n.domain+"."+n.op]
}

// Operations returns the sorted names of the operations that can be read.
func Operations() []string { return slices.Sorted(maps.Keys(table)) }

func unary(f func(x any) T) impl { return func(c *call) []any { return one(f(c.x(0))) } }

func paired(f func(x, y any) T) impl { return func(c *call) []any { return one(f(c.x(0), c.x(1))) } }

// folded applies an operation of two operands to any number of operands.
func folded(f func(x, y any) T) impl {
	return func(c *call) []any {
		xs := c.xs()
		out := c.x(0)
		for _, x := range xs[1:] {
			out = f(out, x)
		}
		return one(out)
	}
}

// activation is an operation with attributes alpha and beta that have the given defaults.
func activation(alpha, beta float64, f func(x T, alpha, beta float64) T) impl {
	return func(c *call) []any { return one(f(c.x(0), c.float("alpha", alpha), c.float("beta", beta))) }
}

func init() { // a function, because operations run graphs, which look up operations
	table = map[string]impl{
		// Elementwise, beside the statements.
		"Identity": identity, "Div": paired(divide), "Pow": power, "Mod": modulo, "BitShift": bitShift,
		"Max": folded(ops.Maximum), "Min": folded(ops.Minimum), "Sum": folded(ops.Add), "Mean": mean,
		"Clip":            clip,
		"IsInf":           isInf,
		"Cast":            func(c *call) []any { return one(cast(c.x(0), c.dtype("to", dtype.None))) },
		"CastLike":        func(c *call) []any { return one(cast(c.x(0), c.x(1).DType())) },
		"BitCast":         func(c *call) []any { return one(bitcast(c.x(0), c.dtype("to", dtype.None))) },
		"Elu":             activation(1, 0, func(x T, a, _ float64) T { return ops.Elu(x, a) }),
		"LeakyRelu":       activation(0.01, 0, func(x T, a, _ float64) T { return ops.LeakyRelu(x, a) }),
		"Celu":            activation(1, 0, celu),
		"HardSigmoid":     activation(0.2, 0.5, hardSigmoid),
		"HardSwish":       unary(func(x any) T { return ops.Mul(x, hardSigmoid(x.(T), 1./6, 0.5)) }),
		"Swish":           activation(1, 0, func(x T, a, _ float64) T { return ops.Mul(x, ops.Sigmoid(ops.Mul(x, like(a, x)))) }),
		"ThresholdedRelu": activation(1, 0, func(x T, a, _ float64) T { return ops.Where(ops.Greater(x, like(a, x)), x, ops.ZerosLike(x)) }),
		"Selu": func(c *call) []any {
			return one(selu(c.x(0), c.float("alpha", 1.67326319217681884765625), c.float("gamma", 1.05070102214813232421875)))
		},
		"Shrink":   shrink,
		"PRelu":    prelu,
		"Gelu":     gelu,
		"Softmax":  softmaxes(ops.Softmax),
		"Hardmax":  softmaxes(hardmax),
		"Dropout":  dropout,
		"LRN":      localResponse,
		"Optional": optional, "OptionalHasElement": optionalHas, "OptionalGetElement": optionalGet,
		"LogSoftmax": softmaxes(ops.LogSoftmax),

		// Reductions.
		"ReduceSum":       reduction(ops.SumKeep, ops.Sum),
		"ReduceMean":      reduction(ops.MeanKeep, ops.Mean),
		"ReduceProd":      reduction(ops.ProdKeep, ops.Prod),
		"ReduceMax":       reduction(extreme(ops.MaxKeep, lowest), extreme(ops.Max, lowest)),
		"ReduceMin":       reduction(extreme(ops.MinKeep, highest), extreme(ops.Min, highest)),
		"ReduceL1":        reduction(after(ops.Abs, ops.SumKeep), after(ops.Abs, ops.Sum)),
		"ReduceL2":        reduction(before(ops.Sqrt, after(ops.Square, ops.SumKeep)), before(ops.Sqrt, after(ops.Square, ops.Sum))),
		"ReduceSumSquare": reduction(after(ops.Square, ops.SumKeep), after(ops.Square, ops.Sum)),
		"ReduceLogSum":    reduction(before(ops.Log, ops.SumKeep), before(ops.Log, ops.Sum)),
		"ReduceLogSumExp": reduction(ops.LogSumExpKeep, ops.LogSumExp),
		"ArgMax":          argReduction(ops.ArgMaxKeep, ops.ArgMax),
		"ArgMin":          argReduction(ops.ArgMinKeep, ops.ArgMin),
		"CumSum":          cumulative(ops.CumSum),
		"CumProd":         cumulative(ops.CumProd),

		// Shapes and positions.
		"Shape": shapeOf, "Size": sizeOf, "Reshape": reshape, "Flatten": flatten, "Squeeze": squeeze, "Unsqueeze": unsqueeze,
		"Transpose": transpose, "Expand": func(c *call) []any { return one(expand(c.x(0), c.x(1))) }, "Tile": tile, "Concat": concat,
		"Split": split, "Slice": slice, "Pad": pad, "Gather": gather, "GatherElements": gatherElements, "GatherND": gatherND,
		"ScatterElements": scatterElements, "Scatter": scatterElements, "ScatterND": scatterND, "Compress": compress, "NonZero": nonZero,
		"OneHot": oneHot, "TopK": topK, "Unique": unique, "Trilu": trilu, "EyeLike": eyeLike, "Range": ranges, "Constant": constant,
		"ConstantOfShape": constantOfShape, "DepthToSpace": depthToSpace, "SpaceToDepth": spaceToDepth, "ReverseSequence": reverseSequence,
		"CenterCropPad": centerCropPad, "TensorScatter": tensorScatter, "Col2Im": col2im, "Resize": resize, "Upsample": resize,
		"AffineGrid": affineGrid, "GridSample": gridSample,

		// Products, layers and losses.
		"MatMul": paired(matMul), "Gemm": gemm, "Einsum": einsum, "Conv": conv, "ConvTranspose": convTranspose,
		"MaxPool": maxPool, "AveragePool": averagePool, "LpPool": lpPool, "MaxUnpool": maxUnpool,
		"GlobalAveragePool": global(ops.MeanKeep), "GlobalMaxPool": global(ops.MaxKeep), "GlobalLpPool": globalLp,
		"BatchNormalization": batchNorm, "InstanceNormalization": instanceNorm, "GroupNormalization": groupNorm,
		"LayerNormalization": layerNorm, "RMSNormalization": rmsNorm, "LpNormalization": lpNorm, "MeanVarianceNormalization": meanVariance,
		"Attention": attention, "RotaryEmbedding": rotary, "RNN": rnn, "GRU": gru, "LSTM": lstm,
		"NegativeLogLikelihoodLoss": nll, "SoftmaxCrossEntropyLoss": softmaxLoss,
		"QuantizeLinear": quantize, "DequantizeLinear": dequantize, "DynamicQuantizeLinear": dynamicQuantize,
		"MatMulInteger": matMulInteger, "ConvInteger": convInteger, "QLinearMatMul": qLinearMatMul, "QLinearConv": qLinearConv,
		"DFT": dft, "STFT": stft, "HannWindow": window(0.5, 0.5, 0), "HammingWindow": window(25./46, 21./46, 0), "BlackmanWindow": window(0.42, 0.5, 0.08),
		"MelWeightMatrix": melWeights, "NonMaxSuppression": nonMaxSuppression,
		"RandomUniformLike": randomLike(uniform), "RandomNormalLike": randomLike(normal), "RandomUniform": random(uniform), "RandomNormal": random(normal),
		"Bernoulli": bernoulli, "CausalConvWithState": causalConv, "LinearAttention": linearAttention,

		// Sequences, control flow, strings.
		"SequenceEmpty": sequenceEmpty, "SequenceConstruct": sequenceConstruct, "SequenceInsert": sequenceInsert, "SequenceErase": sequenceErase,
		"SequenceAt": sequenceAt, "SequenceLength": sequenceLength, "SplitToSequence": splitToSequence, "ConcatFromSequence": concatFromSequence,
		"SequenceMap": sequenceMap, "If": branch, "Loop": loop, "Scan": scan,
		"StringConcat": paired(func(x, y any) T { return ops.StringJoin([]any{x, y}, "") }), "StringSplit": stringSplit,
		"StringNormalizer": stringNormalizer, "RegexFullMatch": regexFullMatch, "TfIdfVectorizer": tfIdf,
		"ai.onnx.ml.LabelEncoder": labelEncoder, "ai.onnx.ml.ArrayFeatureExtractor": arrayFeatures, "ai.onnx.ml.Binarizer": binarizer,
	}
	for _, s := range statements {
		table[s.onnx] = s.read()
	}
}

// highest returns the largest number of an element type.
func highest(dt dtype.DType) float64 {
	switch {
	case dt.IsFloat():
		return math.Inf(1)
	case dt.IsSigned():
		return math.Ldexp(1, dt.Bits()-1) - 1
	case dt == dtype.Bool:
		return 1
	}
	return math.Ldexp(1, dt.Bits()) - 1
}
