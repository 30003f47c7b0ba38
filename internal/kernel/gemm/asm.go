//go:build amd64 && !purego

package gemm

import (
	"unsafe"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/cpu"
)

func family32(level cpu.Level) *family[float32] {
	switch level {
	case cpu.AVX512:
		return &family[float32]{
			width: 32, rows: 14, narrowRows: 14, packRows: 8, block: 8, tiles: &tilesF32AVX512,
			axpy1: axpy1F32AVX512, axpy8: axpy8F32AVX512, dot1: dot1F32AVX512, dot4: dot4F32AVX512, dot4Ahead: dot4AheadF32AVX512, transpose: transposeF32AVX2,
		}
	case cpu.AVX2:
		return &family[float32]{
			width: 16, rows: 6, narrowRows: 8, packRows: 4, block: 8, tiles: &tilesF32AVX2,
			axpy1: axpy1F32AVX2, axpy8: axpy8F32AVX2, dot1: dot1F32AVX2, dot4: dot4F32AVX2, dot4Ahead: dot4AheadF32AVX2, transpose: transposeF32AVX2,
		}
	}
	return plain[float32]()
}

func family64(level cpu.Level) *family[float64] {
	switch level {
	case cpu.AVX512:
		return &family[float64]{
			width: 16, rows: 14, narrowRows: 14, packRows: 8, block: 4, tiles: &tilesF64AVX512,
			axpy1: axpy1F64AVX512, axpy8: axpy8F64AVX512, dot1: dot1F64AVX512, dot4: dot4F64AVX512, dot4Ahead: dot4AheadF64AVX512, transpose: transposeF64AVX2,
		}
	case cpu.AVX2:
		return &family[float64]{
			width: 8, rows: 6, narrowRows: 8, packRows: 4, block: 4, tiles: &tilesF64AVX2,
			axpy1: axpy1F64AVX2, axpy8: axpy8F64AVX2, dot1: dot1F64AVX2, dot4: dot4F64AVX2, dot4Ahead: dot4AheadF64AVX2, transpose: transposeF64AVX2,
		}
	}
	return plain[float64]()
}

// convertF16 converts as many numbers as vectors can and returns how many; so does
// convertBF16. A call sees at most one block of steps or one row of a tile.
func convertF16(dst []float32, x []dtype.F16) int {
	n := len(x) / 8
	if n == 0 || cpu.Active() < cpu.AVX2 {
		return 0
	}
	fromF16AVX2(n, &dst[0], (*uint16)(unsafe.Pointer(&x[0])))
	return 8 * n
}

func convertBF16(dst []float32, x []dtype.BF16) int {
	n := len(x) / 8
	if n == 0 || cpu.Active() < cpu.AVX2 {
		return 0
	}
	fromBF16AVX2(n, &dst[0], (*uint16)(unsafe.Pointer(&x[0])))
	return 8 * n
}
