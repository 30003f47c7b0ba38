package dimcheck

// operations is what the statements of operations say, as go test ./named/internal/stated -update writes it.
var operations = []operation{
	{elementwise, 2, " Add Atan2 BitwiseAnd BitwiseOr BitwiseXor Complex Div Equal FloorDiv Greater GreaterEqual Hypot LeftShift Less LessEqual LogAddExp" +
		" LogicalAnd LogicalOr LogicalXor Maximum Minimum Mod Mul NextAfter NotEqual Pow RightShift SigmoidCrossEntropy SquaredDifference StringCompare" +
		" StringJoin Sub TruncateDiv TruncateMod Xlog1py Xlogy "},
	{elementwise, 3, " Clip FMA Lerp StringSubstr Where "},
	{whole, 1, " Abs Acos Acosh Angle AsString Asin Asinh Atan Atanh Bitcast BitwiseNot Cast Cbrt Ceil CheckNumerics Conj Cos Cosh Digamma Elu EnsureShape" +
		" Erf Erfc Erfinv Exp Exp2 Expm1 Floor Gelu GeluTanh HardSigmoid HardSilu Identity Imag IsFinite IsInf IsNaN LeakyRelu Lgamma Log Log10 Log1p Log2" +
		" LogSigmoid LogicalNot Logit Mish NaNToNum Ndtri Neg OnesLike Polygamma Popcount Real Reciprocal Relu Relu6 Round Rsqrt Selu Sigmoid Sign Silu Sin" +
		" Sinh Softplus Softsign Sqrt Square StopGradient StringHash StringLength StringLower StringRegexFullMatch StringRegexReplace StringStrip" +
		" StringToNumber StringTranscode StringUpper Tan Tanh Trunc ZerosLike "},
	{reduced, 1, " All Any ArgMax ArgMin CountNonzero LogSumExp Max Mean Min Norm Prod Std StringReduceJoin Sum Variance "},
	{kept, 1, " ArgSort CumMax CumMin CumProd CumSum LogCumSumExp LogSoftmax Shift Softmax Sort "},
	{kept, 2, " LayerNormGrad LinearScan LogSoftmaxGrad RMSNorm RmsNormGrad SoftmaxGrad TopK "},
	{kept, 3, " LayerNorm "},
}
