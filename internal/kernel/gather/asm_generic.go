//go:build !amd64 || purego

package gather

import "github.com/tenonml/tenon/internal/cpu"

// Without vectors there are no kernels at any level.
var (
	kernelsByLevel [cpu.AVX512 + 1]*kernels
	shortRows      [3]rowKernel
)
