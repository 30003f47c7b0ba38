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
