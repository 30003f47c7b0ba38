//go:build amd64 && !purego

package reduce

import "github.com/tenonml/tenon/internal/cpu"

func init() {
	table.Add(cpu.AVX512, kernelSet{&avx512F32, &avx512F64, &avx512I32, &avx512I64})
	table.Add(cpu.AVX2, kernelSet{&avx2F32, &avx2F64, &avx2I32, &avx2I64})
}

var (
	avx512F32 = kernels[float32]{
		max: maxF32AVX512, min: minF32AVX512, find: findF32AVX512, top: topF32AVX512,
		sum: sumF32AVX512, squares: squaresF32AVX512, shifted: shiftedF32AVX512, dot: dotF32AVX512, expSum: expSumF32AVX512, expShift: expShiftF32AVX512, softmaxExp: softmaxExpF32AVX512, softmaxStep: softmaxStepF32AVX512,
		subTwice: subTwiceF32AVX512, softmaxGrad: softmaxGradF32AVX512, logSoftmaxGrad: logSoftmaxGradF32AVX512,
		normalize: normalizeF32AVX512, normalizeScale: normalizeScaleF32AVX512, normalizeAffine: normalizeAffineF32AVX512,
		normSums: normSumsF32AVX512, normSumsPlain: normSumsPlainF32AVX512, normGrad: normGradF32AVX512, normGradPlain: normGradPlainF32AVX512,
		addNormalized: addNormalizedF32AVX512,
		past: &kernels[float32]{
			softmaxStep: softmaxStepStreamF32AVX512, subTwice: subTwiceStreamF32AVX512, normalize: normalizeStreamF32AVX512,
			normalizeScale: normalizeScaleStreamF32AVX512, normalizeAffine: normalizeAffineStreamF32AVX512,
		},
	}
	avx512F64 = kernels[float64]{
		max: maxF64AVX512, min: minF64AVX512, find: findF64AVX512, top: topF64AVX512,
		sum: sumF64AVX512, squares: squaresF64AVX512, shifted: shiftedF64AVX512, dot: dotF64AVX512, expSum: expSumF64AVX512, expShift: expShiftF64AVX512,
		subTwice: subTwiceF64AVX512, softmaxGrad: softmaxGradF64AVX512, logSoftmaxGrad: logSoftmaxGradF64AVX512,
		normalize: normalizeF64AVX512, normalizeScale: normalizeScaleF64AVX512, normalizeAffine: normalizeAffineF64AVX512,
		normSums: normSumsF64AVX512, normSumsPlain: normSumsPlainF64AVX512, normGrad: normGradF64AVX512, normGradPlain: normGradPlainF64AVX512,
		addNormalized: addNormalizedF64AVX512,
	}
	avx512I32 = kernels[int32]{max: maxI32AVX512, min: minI32AVX512, find: findI32AVX512}
	avx512I64 = kernels[int64]{max: maxI64AVX512, min: minI64AVX512, find: findI64AVX512}

	avx2F32 = kernels[float32]{
		max: maxF32AVX2, min: minF32AVX2, find: findF32AVX2, top: topF32AVX2,
		sum: sumF32AVX2, squares: squaresF32AVX2, shifted: shiftedF32AVX2, dot: dotF32AVX2, expSum: expSumF32AVX2, expShift: expShiftF32AVX2, softmaxExp: softmaxExpF32AVX2, softmaxStep: softmaxStepF32AVX2,
		subTwice: subTwiceF32AVX2, softmaxGrad: softmaxGradF32AVX2, logSoftmaxGrad: logSoftmaxGradF32AVX2,
		normalize: normalizeF32AVX2, normalizeScale: normalizeScaleF32AVX2, normalizeAffine: normalizeAffineF32AVX2,
		normSums: normSumsF32AVX2, normSumsPlain: normSumsPlainF32AVX2, normGrad: normGradF32AVX2, normGradPlain: normGradPlainF32AVX2,
		addNormalized: addNormalizedF32AVX2,
		past: &kernels[float32]{
			softmaxStep: softmaxStepStreamF32AVX2, subTwice: subTwiceStreamF32AVX2, normalize: normalizeStreamF32AVX2,
			normalizeScale: normalizeScaleStreamF32AVX2, normalizeAffine: normalizeAffineStreamF32AVX2,
		},
	}
	avx2F64 = kernels[float64]{
		max: maxF64AVX2, min: minF64AVX2, find: findF64AVX2, top: topF64AVX2,
		sum: sumF64AVX2, squares: squaresF64AVX2, shifted: shiftedF64AVX2, dot: dotF64AVX2, expSum: expSumF64AVX2, expShift: expShiftF64AVX2,
		subTwice: subTwiceF64AVX2, softmaxGrad: softmaxGradF64AVX2, logSoftmaxGrad: logSoftmaxGradF64AVX2,
		normalize: normalizeF64AVX2, normalizeScale: normalizeScaleF64AVX2, normalizeAffine: normalizeAffineF64AVX2,
		normSums: normSumsF64AVX2, normSumsPlain: normSumsPlainF64AVX2, normGrad: normGradF64AVX2, normGradPlain: normGradPlainF64AVX2,
		addNormalized: addNormalizedF64AVX2,
	}
	avx2I32 = kernels[int32]{max: maxI32AVX2, min: minI32AVX2, find: findI32AVX2}
	avx2I64 = kernels[int64]{max: maxI64AVX2, min: minI64AVX2, find: findI64AVX2}
)
