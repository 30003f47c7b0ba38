//go:build amd64 && !purego

package stream

import "github.com/tenonml/tenon/internal/cpu"

func init() {
	table.Add(cpu.AVX512, kernels{copyAVX512, fetch})
	table.Add(cpu.AVX2, kernels{copyAVX2, fetch})
}
