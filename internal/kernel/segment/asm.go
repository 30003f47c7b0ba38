//go:build amd64 && !purego

package segment

import "github.com/tenonml/tenon/internal/cpu"

// The kernels that internal/asmgen/segment writes.

var reducers32 = [...]*[4]reducer[float32]{
	cpu.AVX512: {
		reduceSum:  {sumF32AVX512, 16, 32},
		reduceMean: {meanF32AVX512, 16, 32},
		reduceMax:  {maxF32AVX512, 16, 32},
		reduceMin:  {minF32AVX512, 16, 32},
	},
	cpu.AVX2: {
		reduceSum:  {sumF32AVX2, 8, 24},
		reduceMean: {meanF32AVX2, 8, 24},
		reduceMax:  {maxF32AVX2, 8, 24},
		reduceMin:  {minF32AVX2, 8, 24},
	},
}

var reducers64 = [...]*[4]reducer[float64]{
	cpu.AVX512: {
		reduceSum:  {sumF64AVX512, 8, 24},
		reduceMean: {meanF64AVX512, 8, 24},
		reduceMax:  {maxF64AVX512, 8, 24},
		reduceMin:  {minF64AVX512, 8, 24},
	},
	cpu.AVX2: {
		reduceSum:  {sumF64AVX2, 4, 12},
		reduceMean: {meanF64AVX2, 4, 12},
		reduceMax:  {maxF64AVX2, 4, 12},
		reduceMin:  {minF64AVX2, 4, 12},
	},
}
