//go:build amd64 && !purego

package elementwise

// The AVX2 kernels by function. A zero entry leaves the function to plain Go.

var avx2F32 = vectors[float32]{
	unary: [opCount]func(dst, x *float32, n int){
		Abs: absF32AVX2, Neg: negF32AVX2, Sign: signF32AVX2,
		Reciprocal: reciprocalF32AVX2, Square: squareF32AVX2, Sqrt: sqrtF32AVX2,
		Rsqrt: rsqrtF32AVX2, Exp: expF32AVX2, Exp2: exp2F32AVX2,
		Expm1: expm1F32AVX2, Log: logF32AVX2, Log2: log2F32AVX2,
		Log10: log10F32AVX2, Log1p: log1pF32AVX2, Tanh: tanhF32AVX2,
		Floor: floorF32AVX2, Ceil: ceilF32AVX2, Round: roundF32AVX2,
		Trunc: truncF32AVX2, Sigmoid: sigmoidF32AVX2, LogSigmoid: logSigmoidF32AVX2,
		Softplus: softplusF32AVX2, Softsign: softsignF32AVX2, Relu: reluF32AVX2,
		Relu6: relu6F32AVX2, Selu: seluF32AVX2, GeluTanh: geluTanhF32AVX2,
		Silu: siluF32AVX2, Mish: mishF32AVX2, HardSigmoid: hardSigmoidF32AVX2,
		HardSilu: hardSiluF32AVX2, Erf: erfF32AVX2, Gelu: geluF32AVX2,
	},
	binary: [opCount]func(dst, x, y *float32, n int){
		Add: addF32AVX2, Sub: subF32AVX2, Mul: mulF32AVX2,
		Div: divF32AVX2, Maximum: maximumF32AVX2, Minimum: minimumF32AVX2,
		SquaredDifference: squaredDifferenceF32AVX2, LeakyRelu: leakyReluF32AVX2, Elu: eluF32AVX2,
	},
	vs: [opCount]func(dst, x *float32, n int, y float32){
		Add: addVSF32AVX2, Sub: subVSF32AVX2, Mul: mulVSF32AVX2,
		Div: divVSF32AVX2, Maximum: maximumVSF32AVX2, Minimum: minimumVSF32AVX2,
		SquaredDifference: squaredDifferenceVSF32AVX2, LeakyRelu: leakyReluVSF32AVX2, Elu: eluVSF32AVX2,
	},
	sv: [opCount]func(dst, y *float32, n int, x float32){
		Sub: subSVF32AVX2, Div: divSVF32AVX2,
	},
	compare: [opCount]func(dst *bool, x, y *float32, n int){
		Equal: equalF32AVX2, NotEqual: notEqualF32AVX2, Less: lessF32AVX2,
		LessEqual: lessEqualF32AVX2,
	},
	compareVS: [opCount]func(dst *bool, x *float32, n int, y float32){
		Equal: equalVSF32AVX2, NotEqual: notEqualVSF32AVX2, Less: lessVSF32AVX2,
		LessEqual: lessEqualVSF32AVX2, Greater: greaterVSF32AVX2, GreaterEqual: greaterEqualVSF32AVX2,
	},
	unaryPast: [opCount]func(dst, x *float32, n int){
		Relu: reluStreamF32AVX2, Sqrt: sqrtStreamF32AVX2, Square: squareStreamF32AVX2,
		Neg: negStreamF32AVX2, Exp: expStreamF32AVX2, Log: logStreamF32AVX2,
		Tanh: tanhStreamF32AVX2, Sigmoid: sigmoidStreamF32AVX2, Silu: siluStreamF32AVX2,
		Gelu: geluStreamF32AVX2, GeluTanh: geluTanhStreamF32AVX2,
	},
	binaryPast: [opCount]func(dst, x, y *float32, n int){
		Add: addStreamF32AVX2, Sub: subStreamF32AVX2, Mul: mulStreamF32AVX2,
		Div: divStreamF32AVX2, Maximum: maximumStreamF32AVX2,
	},
	vsPast: [opCount]func(dst, x *float32, n int, y float32){
		Add: addVSStreamF32AVX2, Sub: subVSStreamF32AVX2, Mul: mulVSStreamF32AVX2,
		Div: divVSStreamF32AVX2, Maximum: maximumVSStreamF32AVX2,
	},
	ternary: [opCount]func(dst, x, y, z *float32, n int){
		FMA: fmaF32AVX2, Lerp: lerpF32AVX2, Clip: clipF32AVX2,
	},
	partial: [opCount]func(dst, x *float32, n int) int{
		Sin: sinF32AVX2, Cos: cosF32AVX2,
	},
	pow:   powF32AVX2,
	powVS: powVSF32AVX2,
	clip:  clipVSSF32AVX2,
}

var avx2F64 = vectors[float64]{
	unary: [opCount]func(dst, x *float64, n int){
		Abs: absF64AVX2, Neg: negF64AVX2, Sign: signF64AVX2,
		Reciprocal: reciprocalF64AVX2, Square: squareF64AVX2, Sqrt: sqrtF64AVX2,
		Rsqrt: rsqrtF64AVX2, Exp: expF64AVX2, Exp2: exp2F64AVX2,
		Expm1: expm1F64AVX2, Log: logF64AVX2, Log2: log2F64AVX2,
		Log10: log10F64AVX2, Log1p: log1pF64AVX2, Tanh: tanhF64AVX2,
		Floor: floorF64AVX2, Ceil: ceilF64AVX2, Round: roundF64AVX2,
		Trunc: truncF64AVX2, Sigmoid: sigmoidF64AVX2, LogSigmoid: logSigmoidF64AVX2,
		Softplus: softplusF64AVX2, Softsign: softsignF64AVX2, Relu: reluF64AVX2,
		Relu6: relu6F64AVX2, Selu: seluF64AVX2, GeluTanh: geluTanhF64AVX2,
		Silu: siluF64AVX2, Mish: mishF64AVX2, HardSigmoid: hardSigmoidF64AVX2,
		HardSilu: hardSiluF64AVX2,
	},
	binary: [opCount]func(dst, x, y *float64, n int){
		Add: addF64AVX2, Sub: subF64AVX2, Mul: mulF64AVX2,
		Div: divF64AVX2, Maximum: maximumF64AVX2, Minimum: minimumF64AVX2,
		SquaredDifference: squaredDifferenceF64AVX2, LeakyRelu: leakyReluF64AVX2, Elu: eluF64AVX2,
	},
	vs: [opCount]func(dst, x *float64, n int, y float64){
		Add: addVSF64AVX2, Sub: subVSF64AVX2, Mul: mulVSF64AVX2,
		Div: divVSF64AVX2, Maximum: maximumVSF64AVX2, Minimum: minimumVSF64AVX2,
		SquaredDifference: squaredDifferenceVSF64AVX2, LeakyRelu: leakyReluVSF64AVX2, Elu: eluVSF64AVX2,
	},
	sv: [opCount]func(dst, y *float64, n int, x float64){
		Sub: subSVF64AVX2, Div: divSVF64AVX2,
	},
	compare: [opCount]func(dst *bool, x, y *float64, n int){
		Equal: equalF64AVX2, NotEqual: notEqualF64AVX2, Less: lessF64AVX2,
		LessEqual: lessEqualF64AVX2,
	},
	compareVS: [opCount]func(dst *bool, x *float64, n int, y float64){
		Equal: equalVSF64AVX2, NotEqual: notEqualVSF64AVX2, Less: lessVSF64AVX2,
		LessEqual: lessEqualVSF64AVX2, Greater: greaterVSF64AVX2, GreaterEqual: greaterEqualVSF64AVX2,
	},
	ternary: [opCount]func(dst, x, y, z *float64, n int){
		FMA: fmaF64AVX2, Lerp: lerpF64AVX2, Clip: clipF64AVX2,
	},
	partial: [opCount]func(dst, x *float64, n int) int{
		Sin: sinF64AVX2, Cos: cosF64AVX2,
	},
	clip: clipVSSF64AVX2,
}

var avx2I32 = vectors[int32]{
	unary: [opCount]func(dst, x *int32, n int){
		Abs: absI32AVX2, Neg: negI32AVX2, Square: squareI32AVX2,
		BitwiseNot: notI32AVX2,
	},
	binary: [opCount]func(dst, x, y *int32, n int){
		Add: addI32AVX2, Sub: subI32AVX2, Mul: mulI32AVX2,
		Maximum: maximumI32AVX2, Minimum: minimumI32AVX2, SquaredDifference: squaredDifferenceI32AVX2,
		BitwiseAnd: andI32AVX2, BitwiseOr: orI32AVX2, BitwiseXor: xorI32AVX2,
	},
	vs: [opCount]func(dst, x *int32, n int, y int32){
		Add: addVSI32AVX2, Sub: subVSI32AVX2, Mul: mulVSI32AVX2,
		Maximum: maximumVSI32AVX2, Minimum: minimumVSI32AVX2, SquaredDifference: squaredDifferenceVSI32AVX2,
		BitwiseAnd: andVSI32AVX2, BitwiseOr: orVSI32AVX2, BitwiseXor: xorVSI32AVX2,
	},
	sv: [opCount]func(dst, y *int32, n int, x int32){
		Sub: subSVI32AVX2,
	},
	compare: [opCount]func(dst *bool, x, y *int32, n int){
		Equal: equalI32AVX2, NotEqual: notEqualI32AVX2, Less: lessI32AVX2,
		LessEqual: lessEqualI32AVX2,
	},
	compareVS: [opCount]func(dst *bool, x *int32, n int, y int32){
		Equal: equalVSI32AVX2, NotEqual: notEqualVSI32AVX2, Less: lessVSI32AVX2,
		LessEqual: lessEqualVSI32AVX2, Greater: greaterVSI32AVX2, GreaterEqual: greaterEqualVSI32AVX2,
	},
}

var avx2I64 = vectors[int64]{
	unary: [opCount]func(dst, x *int64, n int){
		Abs: absI64AVX2, Neg: negI64AVX2, Square: squareI64AVX2,
		BitwiseNot: notI64AVX2,
	},
	binary: [opCount]func(dst, x, y *int64, n int){
		Add: addI64AVX2, Sub: subI64AVX2, Mul: mulI64AVX2,
		Maximum: maximumI64AVX2, Minimum: minimumI64AVX2, SquaredDifference: squaredDifferenceI64AVX2,
		BitwiseAnd: andI64AVX2, BitwiseOr: orI64AVX2, BitwiseXor: xorI64AVX2,
	},
	vs: [opCount]func(dst, x *int64, n int, y int64){
		Add: addVSI64AVX2, Sub: subVSI64AVX2, Mul: mulVSI64AVX2,
		Maximum: maximumVSI64AVX2, Minimum: minimumVSI64AVX2, SquaredDifference: squaredDifferenceVSI64AVX2,
		BitwiseAnd: andVSI64AVX2, BitwiseOr: orVSI64AVX2, BitwiseXor: xorVSI64AVX2,
	},
	sv: [opCount]func(dst, y *int64, n int, x int64){
		Sub: subSVI64AVX2,
	},
	compare: [opCount]func(dst *bool, x, y *int64, n int){
		Equal: equalI64AVX2, NotEqual: notEqualI64AVX2, Less: lessI64AVX2,
		LessEqual: lessEqualI64AVX2,
	},
	compareVS: [opCount]func(dst *bool, x *int64, n int, y int64){
		Equal: equalVSI64AVX2, NotEqual: notEqualVSI64AVX2, Less: lessVSI64AVX2,
		LessEqual: lessEqualVSI64AVX2, Greater: greaterVSI64AVX2, GreaterEqual: greaterEqualVSI64AVX2,
	},
}
