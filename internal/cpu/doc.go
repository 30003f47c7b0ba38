// Package cpu selects the kernels that this process runs.
//
// A [Family] is an instruction set that kernels are written for, such as AVX2 with FMA. The
// file families_GOARCH.go declares the families of an architecture, their requirements and
// their order. A package of kernels has a [Table] of its loops in plain Go, to which
// architecture-specific files add kernels:
//
//	var table = cpu.NewTable(kernels{}) // nil: plain Go
//
//	func init() { // in a file for amd64
//		table.Add(cpu.AVX512, kernels{axpy: axpyAVX512})
//		table.Add(cpu.AVX2, kernels{axpy: axpyAVX2})
//	}
//
// and runs the best ones that the machine supports, [Table.Now]. To support another
// architecture, add a file of families here and files of kernels in the packages that have
// them. The choice is made before main begins, from the capabilities of the processor and the
// operating system, and does not change. Package-level variables are initialised before tables
// are filled, so they must not hold the result of Now.
//
// The environment variable TENON_CPU names the best family to use (on amd64 avx512vbmi,
// avx512, avx2 or generic), so that tests and bug reports can run each path on one machine; it
// cannot select a family that the machine does not support. With the build tag purego, and on
// architectures that declare no families, there is only [Generic].
//
// Results may differ between families in the last bits, because the order of
// summation and the use of fused multiply-add differ; within one family they are
// deterministic.
package cpu
