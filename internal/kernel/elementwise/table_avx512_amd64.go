//go:build amd64 && !purego

package elementwise

// The AVX-512 kernels by function. A zero entry leaves the function to plain Go.

var avx512F32 = vectors[float32]{
	unary: [opCount]func(dst, x *float32, n int){
		Abs: absF32AVX512, Neg: negF32AVX512, Sign: signF32AVX512,
		Reciprocal: reciprocalF32AVX512, Square: squareF32AVX512, Sqrt: sqrtF32AVX512,
		Rsqrt: rsqrtF32AVX512, Exp: expF32AVX512, Exp2: exp2F32AVX512,
		Expm1: expm1F32AVX512, Log: logF32AVX512, Log2: log2F32AVX512,
		Log10: log10F32AVX512, Log1p: log1pF32AVX512, Tanh: tanhF32AVX512,
		Floor: floorF32AVX512, Ceil: ceilF32AVX512, Round: roundF32AVX512,
		Trunc: truncF32AVX512, Sigmoid: sigmoidF32AVX512, LogSigmoid: logSigmoidF32AVX512,
		Softplus: softplusF32AVX512, Softsign: softsignF32AVX512, Relu: reluF32AVX512,
		Relu6: relu6F32AVX512, Selu: seluF32AVX512, GeluTanh: geluTanhF32AVX512,
		Silu: siluF32AVX512, Mish: mishF32AVX512, HardSigmoid: hardSigmoidF32AVX512,
		HardSilu: hardSiluF32AVX512, Erf: erfF32AVX512, Gelu: geluF32AVX512,
	},
	binary: [opCount]func(dst, x, y *float32, n int){
		Add: addF32AVX512, Sub: subF32AVX512, Mul: mulF32AVX512,
		Div: divF32AVX512, Maximum: maximumF32AVX512, Minimum: minimumF32AVX512,
		SquaredDifference: squaredDifferenceF32AVX512, LeakyRelu: leakyReluF32AVX512, Elu: eluF32AVX512,
	},
	vs: [opCount]func(dst, x *float32, n int, y float32){
		Add: addVSF32AVX512, Sub: subVSF32AVX512, Mul: mulVSF32AVX512,
		Div: divVSF32AVX512, Maximum: maximumVSF32AVX512, Minimum: minimumVSF32AVX512,
		SquaredDifference: squaredDifferenceVSF32AVX512, LeakyRelu: leakyReluVSF32AVX512, Elu: eluVSF32AVX512,
	},
	sv: [opCount]func(dst, y *float32, n int, x float32){
		Sub: subSVF32AVX512, Div: divSVF32AVX512,
	},
	compare: [opCount]func(dst *bool, x, y *float32, n int){
		Equal: equalF32AVX512, NotEqual: notEqualF32AVX512, Less: lessF32AVX512,
		LessEqual: lessEqualF32AVX512,
	},
	compareVS: [opCount]func(dst *bool, x *float32, n int, y float32){
		Equal: equalVSF32AVX512, NotEqual: notEqualVSF32AVX512, Less: lessVSF32AVX512,
		LessEqual: lessEqualVSF32AVX512, Greater: greaterVSF32AVX512, GreaterEqual: greaterEqualVSF32AVX512,
	},
	unaryPast: [opCount]func(dst, x *float32, n int){
		Relu: reluStreamF32AVX512, Sqrt: sqrtStreamF32AVX512, Square: squareStreamF32AVX512,
		Neg: negStreamF32AVX512, Exp: expStreamF32AVX512, Log: logStreamF32AVX512,
		Tanh: tanhStreamF32AVX512, Sigmoid: sigmoidStreamF32AVX512, Silu: siluStreamF32AVX512,
		Gelu: geluStreamF32AVX512, GeluTanh: geluTanhStreamF32AVX512,
	},
	binaryPast: [opCount]func(dst, x, y *float32, n int){
		Add: addStreamF32AVX512, Sub: subStreamF32AVX512, Mul: mulStreamF32AVX512,
		Div: divStreamF32AVX512, Maximum: maximumStreamF32AVX512,
	},
	vsPast: [opCount]func(dst, x *float32, n int, y float32){
		Add: addVSStreamF32AVX512, Sub: subVSStreamF32AVX512, Mul: mulVSStreamF32AVX512,
		Div: divVSStreamF32AVX512, Maximum: maximumVSStreamF32AVX512,
	},
	ternary: [opCount]func(dst, x, y, z *float32, n int){
		FMA: fmaF32AVX512, Lerp: lerpF32AVX512, Clip: clipF32AVX512,
	},
	partial: [opCount]func(dst, x *float32, n int) int{
		Sin: sinF32AVX512, Cos: cosF32AVX512,
	},
	pow:   powF32AVX512,
	powVS: powVSF32AVX512,
	clip:  clipVSSF32AVX512,
}

var avx512F64 = vectors[float64]{
	unary: [opCount]func(dst, x *float64, n int){
		Abs: absF64AVX512, Neg: negF64AVX512, Sign: signF64AVX512,
		Reciprocal: reciprocalF64AVX512, Square: squareF64AVX512, Sqrt: sqrtF64AVX512,
		Rsqrt: rsqrtF64AVX512, Exp: expF64AVX512, Exp2: exp2F64AVX512,
		Expm1: expm1F64AVX512, Log: logF64AVX512, Log2: log2F64AVX512,
		Log10: log10F64AVX512, Log1p: log1pF64AVX512, Tanh: tanhF64AVX512,
		Floor: floorF64AVX512, Ceil: ceilF64AVX512, Round: roundF64AVX512,
		Trunc: truncF64AVX512, Sigmoid: sigmoidF64AVX512, LogSigmoid: logSigmoidF64AVX512,
		Softplus: softplusF64AVX512, Softsign: softsignF64AVX512, Relu: reluF64AVX512,
		Relu6: relu6F64AVX512, Selu: seluF64AVX512, GeluTanh: geluTanhF64AVX512,
		Silu: siluF64AVX512, Mish: mishF64AVX512, HardSigmoid: hardSigmoidF64AVX512,
		HardSilu: hardSiluF64AVX512,
	},
	binary: [opCount]func(dst, x, y *float64, n int){
		Add: addF64AVX512, Sub: subF64AVX512, Mul: mulF64AVX512,
		Div: divF64AVX512, Maximum: maximumF64AVX512, Minimum: minimumF64AVX512,
		SquaredDifference: squaredDifferenceF64AVX512, LeakyRelu: leakyReluF64AVX512, Elu: eluF64AVX512,
	},
	vs: [opCount]func(dst, x *float64, n int, y float64){
		Add: addVSF64AVX512, Sub: subVSF64AVX512, Mul: mulVSF64AVX512,
		Div: divVSF64AVX512, Maximum: maximumVSF64AVX512, Minimum: minimumVSF64AVX512,
		SquaredDifference: squaredDifferenceVSF64AVX512, LeakyRelu: leakyReluVSF64AVX512, Elu: eluVSF64AVX512,
	},
	sv: [opCount]func(dst, y *float64, n int, x float64){
		Sub: subSVF64AVX512, Div: divSVF64AVX512,
	},
	compare: [opCount]func(dst *bool, x, y *float64, n int){
		Equal: equalF64AVX512, NotEqual: notEqualF64AVX512, Less: lessF64AVX512,
		LessEqual: lessEqualF64AVX512,
	},
	compareVS: [opCount]func(dst *bool, x *float64, n int, y float64){
		Equal: equalVSF64AVX512, NotEqual: notEqualVSF64AVX512, Less: lessVSF64AVX512,
		LessEqual: lessEqualVSF64AVX512, Greater: greaterVSF64AVX512, GreaterEqual: greaterEqualVSF64AVX512,
	},
	ternary: [opCount]func(dst, x, y, z *float64, n int){
		FMA: fmaF64AVX512, Lerp: lerpF64AVX512, Clip: clipF64AVX512,
	},
	partial: [opCount]func(dst, x *float64, n int) int{
		Sin: sinF64AVX512, Cos: cosF64AVX512,
	},
	clip: clipVSSF64AVX512,
}

var avx512I32 = vectors[int32]{
	unary: [opCount]func(dst, x *int32, n int){
		Abs: absI32AVX512, Neg: negI32AVX512, Square: squareI32AVX512,
		BitwiseNot: notI32AVX512,
	},
	binary: [opCount]func(dst, x, y *int32, n int){
		Add: addI32AVX512, Sub: subI32AVX512, Mul: mulI32AVX512,
		Maximum: maximumI32AVX512, Minimum: minimumI32AVX512, SquaredDifference: squaredDifferenceI32AVX512,
		BitwiseAnd: andI32AVX512, BitwiseOr: orI32AVX512, BitwiseXor: xorI32AVX512,
	},
	vs: [opCount]func(dst, x *int32, n int, y int32){
		Add: addVSI32AVX512, Sub: subVSI32AVX512, Mul: mulVSI32AVX512,
		Maximum: maximumVSI32AVX512, Minimum: minimumVSI32AVX512, SquaredDifference: squaredDifferenceVSI32AVX512,
		BitwiseAnd: andVSI32AVX512, BitwiseOr: orVSI32AVX512, BitwiseXor: xorVSI32AVX512,
	},
	sv: [opCount]func(dst, y *int32, n int, x int32){
		Sub: subSVI32AVX512,
	},
	compare: [opCount]func(dst *bool, x, y *int32, n int){
		Equal: equalI32AVX512, NotEqual: notEqualI32AVX512, Less: lessI32AVX512,
		LessEqual: lessEqualI32AVX512,
	},
	compareVS: [opCount]func(dst *bool, x *int32, n int, y int32){
		Equal: equalVSI32AVX512, NotEqual: notEqualVSI32AVX512, Less: lessVSI32AVX512,
		LessEqual: lessEqualVSI32AVX512, Greater: greaterVSI32AVX512, GreaterEqual: greaterEqualVSI32AVX512,
	},
}

var avx512I64 = vectors[int64]{
	unary: [opCount]func(dst, x *int64, n int){
		Abs: absI64AVX512, Neg: negI64AVX512, Square: squareI64AVX512,
		BitwiseNot: notI64AVX512,
	},
	binary: [opCount]func(dst, x, y *int64, n int){
		Add: addI64AVX512, Sub: subI64AVX512, Mul: mulI64AVX512,
		Maximum: maximumI64AVX512, Minimum: minimumI64AVX512, SquaredDifference: squaredDifferenceI64AVX512,
		BitwiseAnd: andI64AVX512, BitwiseOr: orI64AVX512, BitwiseXor: xorI64AVX512,
	},
	vs: [opCount]func(dst, x *int64, n int, y int64){
		Add: addVSI64AVX512, Sub: subVSI64AVX512, Mul: mulVSI64AVX512,
		Maximum: maximumVSI64AVX512, Minimum: minimumVSI64AVX512, SquaredDifference: squaredDifferenceVSI64AVX512,
		BitwiseAnd: andVSI64AVX512, BitwiseOr: orVSI64AVX512, BitwiseXor: xorVSI64AVX512,
	},
	sv: [opCount]func(dst, y *int64, n int, x int64){
		Sub: subSVI64AVX512,
	},
	compare: [opCount]func(dst *bool, x, y *int64, n int){
		Equal: equalI64AVX512, NotEqual: notEqualI64AVX512, Less: lessI64AVX512,
		LessEqual: lessEqualI64AVX512,
	},
	compareVS: [opCount]func(dst *bool, x *int64, n int, y int64){
		Equal: equalVSI64AVX512, NotEqual: notEqualVSI64AVX512, Less: lessVSI64AVX512,
		LessEqual: lessEqualVSI64AVX512, Greater: greaterVSI64AVX512, GreaterEqual: greaterEqualVSI64AVX512,
	},
}
