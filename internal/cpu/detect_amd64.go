//go:build amd64 && !purego

package cpu

import "golang.org/x/sys/cpu"

// detect asks the processor. Every processor with AVX2 also has F16C, for which
// x/sys/cpu has no flag.
func detect() Level {
	x := &cpu.X86
	if !(x.HasAVX2 && x.HasFMA && x.HasBMI1 && x.HasBMI2 && x.HasPOPCNT) {
		return Generic
	}
	if !(x.HasAVX512F && x.HasAVX512CD && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL) {
		return AVX2
	}
	return AVX512
}

// PermutesBytes reports whether the machine moves and compresses the single bytes of
// a vector of 64 (VBMI and VBMI2), which not all machines do that offer AVX512.
func PermutesBytes() bool { return cpu.X86.HasAVX512VBMI && cpu.X86.HasAVX512VBMI2 }
