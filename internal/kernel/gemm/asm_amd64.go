//go:build amd64 && !purego

package gemm

import "github.com/tenonml/tenon/internal/cpu"

func init() {
	table.Add(cpu.AVX512, kernelSet{
		f32: &family[float32]{
			width: 32, rows: 14, narrowRows: 14, packRows: 8, lanes: 8, tiles: &tilesF32AVX512,
			axpy1: axpy1F32AVX512, axpy8: axpy8F32AVX512, dot1: dot1F32AVX2, dot2: dot2F32AVX2, transpose: transposeF32AVX2,
		},
		f64: &family[float64]{
			width: 16, rows: 14, narrowRows: 14, packRows: 8, lanes: 4, tiles: &tilesF64AVX512,
			axpy1: axpy1F64AVX512, axpy8: axpy8F64AVX512, dot1: dot1F64AVX2, dot2: dot2F64AVX2, transpose: transposeF64AVX2,
		},
		f16: fromF16AVX2, bf16: fromBF16AVX2,
	})
	table.Add(cpu.AVX2, kernelSet{
		f32: &family[float32]{
			width: 16, rows: 6, narrowRows: 8, packRows: 4, lanes: 8, tiles: &tilesF32AVX2,
			axpy1: axpy1F32AVX2, axpy8: axpy8F32AVX2, dot1: dot1F32AVX2, dot2: dot2F32AVX2, transpose: transposeF32AVX2,
		},
		f64: &family[float64]{
			width: 8, rows: 6, narrowRows: 8, packRows: 4, lanes: 4, tiles: &tilesF64AVX2,
			axpy1: axpy1F64AVX2, axpy8: axpy8F64AVX2, dot1: dot1F64AVX2, dot2: dot2F64AVX2, transpose: transposeF64AVX2,
		},
		f16: fromF16AVX2, bf16: fromBF16AVX2,
	})
}
