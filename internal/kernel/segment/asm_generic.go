//go:build !amd64 || purego

package segment

import "github.com/tenonml/tenon/internal/cpu"

// Without vectors there are no kernels at any level.

var (
	reducers32 [cpu.AVX512 + 1]*[4]reducer[float32]
	reducers64 [cpu.AVX512 + 1]*[4]reducer[float64]
)
