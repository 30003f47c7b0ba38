// Package cpu says which family of kernels this process runs: AVX-512, AVX2 with
// FMA, or plain Go.
//
// The choice is made once, before any other package of the module initialises,
// from what the processor and the operating system offer, and never changes
// afterwards. Kernel packages read it into their function tables:
//
//	switch cpu.Active() {
//	case cpu.AVX512:
//		axpy = axpyAVX512
//	case cpu.AVX2:
//		axpy = axpyAVX2
//	}
//
// The environment variable TENON_CPU (avx512, avx2 or generic) lowers the choice
// so that tests and bug reports can run each path on one machine; it never raises
// the choice above what the machine offers. With the build tag purego, and on
// every architecture other than amd64, the answer is always [Generic].
//
// # What a level promises
//
//   - [AVX2]: AVX2, FMA, F16C, BMI1, BMI2 and POPCNT.
//   - [AVX512]: all of the above and AVX-512 F, CD, BW, DQ and VL, with the
//     register state enabled by the operating system.
//
// Results may differ between levels in the last bits, because the order of
// summation and the use of fused multiply-add differ; within one level they are
// deterministic.
package cpu
