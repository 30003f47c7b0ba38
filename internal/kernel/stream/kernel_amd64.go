//go:build amd64 && !purego

package stream

import "github.com/tenonml/tenon/internal/cpu"

var kernel = choose(cpu.Active())

func choose(l cpu.Level) func(dst, src *byte, n int, ahead uintptr) {
	switch l {
	case cpu.AVX512:
		return copyAVX512
	case cpu.AVX2:
		return copyAVX2
	}
	return nil
}
