//go:build amd64 && !purego

package transpose

import "github.com/tenonml/tenon/internal/cpu"

func init() {
	table.Add(cpu.AVX512, kernels{{16, tiles32AVX512, tiles32AVX512NT}, {8, tiles64AVX512, tiles64AVX512NT}})
	table.Add(cpu.AVX2, kernels{{8, tiles32AVX2, tiles32AVX2NT}, {4, tiles64AVX2, tiles64AVX2NT}})
}
