//go:build amd64 && !purego

package cpu

import "golang.org/x/sys/cpu"

// The families of amd64. Every processor with AVX2 also has F16C, for which x/sys/cpu has no
// flag.
var (
	// AVX2 needs AVX2, FMA, F16C, BMI1, BMI2 and POPCNT.
	AVX2 = declare("avx2", 1, hasAVX2)

	// AVX512 additionally needs AVX-512 F, CD, BW, DQ and VL, with the register state enabled by
	// the operating system.
	AVX512 = declare("avx512", 2, hasAVX512)

	// AVX512VBMI additionally permutes and compresses the single bytes of a vector (VBMI and
	// VBMI2).
	AVX512VBMI = declare("avx512vbmi", 3, hasAVX512 && cpu.X86.HasAVX512VBMI && cpu.X86.HasAVX512VBMI2)
)

var (
	hasAVX2   = cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasBMI1 && cpu.X86.HasBMI2 && cpu.X86.HasPOPCNT
	hasAVX512 = hasAVX2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512CD && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL
)
