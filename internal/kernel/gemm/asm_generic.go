//go:build !amd64 || purego

package gemm

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/cpu"
)

func family32(cpu.Level) *family[float32] { return plain[float32]() }
func family64(cpu.Level) *family[float64] { return plain[float64]() }

func convertF16([]float32, []dtype.F16) int   { return 0 }
func convertBF16([]float32, []dtype.BF16) int { return 0 }
