//go:build amd64 && !purego

package gather

import "github.com/tenonml/tenon/internal/cpu"

// The kernels that internal/asmgen/gather writes.

var kernelsByLevel = [...]*kernels{
	cpu.AVX512: {
		rows: rowsAVX512, past: rowsPastAVX512,
		ranks:    ranksAVX512,
		compress: [...]func(dst, x *byte, bits *uint64, words int){compress32AVX512, compress64AVX512},
		before:   before,
		add32:    addRowsF32AVX512, add64: addRowsF64AVX512,
	},
	cpu.AVX2: {
		rows: rowsAVX2, past: rowsPastAVX2,
		ranks:    ranksAVX2,
		compress: [...]func(dst, x *byte, bits *uint64, words int){compress32AVX2, compress64AVX2},
		before:   before,
		add32:    addRowsF32AVX2, add64: addRowsF64AVX2,
	},
}

// shortRows copy rows of 8 to 16, 16 to 32 and 32 to 64 bytes.
var shortRows = [...]rowKernel{rows8b, rows16b, rows32b}
