package reduce

// The block functions that assembly may stand in for.

func sumBlock[T float](x []T) float64                        { return pairwise(x) }
func sumSquaresBlock[T float](x []T, center float64) float64 { return squaresAbout(x, center) }
func maxBlock[T ordered](x []T) T                            { return maxPlain(x) }
func minBlock[T ordered](x []T) T                            { return minPlain(x) }
func argMaxBlock[T ordered](x []T) int                       { return argMaxPlain(x) }
func argMinBlock[T ordered](x []T) int                       { return argMinPlain(x) }
func expSumBlock[T float](x []T, shift T) float64            { return expSumPlain(x, shift) }

// The row functions that assembly may stand in for. Rows are not empty.

func softmaxRow[T float](dst, x []T)                       { softmaxPlain(dst, x) }
func logSoftmaxRow[T float](dst, x []T)                    { logSoftmaxPlain(dst, x) }
func softmaxGradRow[T float](dx, y, dy []T)                { softmaxGradPlain(dx, y, dy) }
func logSoftmaxGradRow[T float](dx, y, dy []T)             { logSoftmaxGradPlain(dx, y, dy) }
func rmsNormGradRow[T float](dx, x, gamma, dy []T, rstd T) { rmsNormGradPlain(dx, x, gamma, dy, rstd) }

func layerNormRow[T float](dst, x, gamma, beta []T, eps T) (mean, rstd T) {
	return layerNormPlain(dst, x, gamma, beta, eps)
}

func rmsNormRow[T float](dst, x, gamma []T, eps T) (rstd T) {
	return rmsNormPlain(dst, x, gamma, eps)
}

func layerNormGradRow[T float](dx, x, gamma, dy []T, mean, rstd T) {
	layerNormGradPlain(dx, x, gamma, dy, mean, rstd)
}
