//go:build amd64 && !purego

package gather

import "github.com/tenonml/tenon/internal/cpu"

// The kernels that internal/asmgen/gather writes.

func init() {
	short := [...]rowKernel{rows8b, rows16b, rows32b}
	table.Add(cpu.AVX512, kernels{
		short: short,
		rows:  rowsAVX512, past: rowsPastAVX512,
		ranks:    ranksAVX512,
		compress: [...]func(dst, x *byte, bits *uint64, words int){compress32AVX512, compress64AVX512},
		before:   before,
		add32:    addRowsF32AVX512, add64: addRowsF64AVX512,
	})
	table.Add(cpu.AVX2, kernels{
		short: short,
		rows:  rowsAVX2, past: rowsPastAVX2,
		ranks:    ranksAVX2,
		compress: [...]func(dst, x *byte, bits *uint64, words int){compress32AVX2, compress64AVX2},
		before:   before,
		add32:    addRowsF32AVX2, add64: addRowsF64AVX2,
	})
}
