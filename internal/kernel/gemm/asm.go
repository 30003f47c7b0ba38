//go:build amd64 && !purego

package gemm

import "github.com/tenonml/tenon/internal/cpu"

func family32(level cpu.Level) *family[float32] {
	switch level {
	case cpu.AVX512:
		return &family[float32]{
			width: 32, rows: 14, narrowRows: 14, packRows: 8, block: 8, tiles: &tilesF32AVX512,
			axpy1: axpy1F32AVX512, axpy8: axpy8F32AVX512, dot1: dot1F32AVX512, dot4: dot4F32AVX512, transpose: transposeF32AVX2,
		}
	case cpu.AVX2:
		return &family[float32]{
			width: 16, rows: 6, narrowRows: 8, packRows: 4, block: 8, tiles: &tilesF32AVX2,
			axpy1: axpy1F32AVX2, axpy8: axpy8F32AVX2, dot1: dot1F32AVX2, dot4: dot4F32AVX2, transpose: transposeF32AVX2,
		}
	}
	return plain[float32]()
}

func family64(level cpu.Level) *family[float64] {
	switch level {
	case cpu.AVX512:
		return &family[float64]{
			width: 16, rows: 14, narrowRows: 14, packRows: 8, block: 4, tiles: &tilesF64AVX512,
			axpy1: axpy1F64AVX512, axpy8: axpy8F64AVX512, dot1: dot1F64AVX512, dot4: dot4F64AVX512, transpose: transposeF64AVX2,
		}
	case cpu.AVX2:
		return &family[float64]{
			width: 8, rows: 6, narrowRows: 8, packRows: 4, block: 4, tiles: &tilesF64AVX2,
			axpy1: axpy1F64AVX2, axpy8: axpy8F64AVX2, dot1: dot1F64AVX2, dot4: dot4F64AVX2, transpose: transposeF64AVX2,
		}
	}
	return plain[float64]()
}
