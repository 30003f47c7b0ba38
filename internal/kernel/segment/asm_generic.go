//go:build !amd64 || purego

package segment

import "github.com/tenonml/tenon/internal/cpu"

// Without vectors there are no kernels at any level.

var (
	kernels32     [cpu.AVX512 + 1]*floatKernels[float32]
	kernels64     [cpu.AVX512 + 1]*floatKernels[float64]
	kernelsInt    [cpu.AVX512 + 1]*rowKernels[int32]
	kernelsLong   [cpu.AVX512 + 1]*rowKernels[int64]
	kernelsBytes  [cpu.AVX512 + 1]*byteKernels
	moversByLevel [cpu.AVX512 + 1]*movers
	networks32    [cpu.AVX512 + 1]*networks[float32]
	networksInt   [cpu.AVX512 + 1]*networks[int32]
	networks64    [cpu.AVX512 + 1]*networks[float64]
	networksLong  [cpu.AVX512 + 1]*networks[int64]
)

// fence orders stores; without non-temporal ones all are in order.
func fence() {}
