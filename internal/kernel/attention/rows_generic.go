//go:build !amd64 || purego

package attention

import "github.com/tenonml/tenon/internal/cpu"

var kernels = plainKernels

func kernelsFor(cpu.Level) rowKernels { return plainKernels }
