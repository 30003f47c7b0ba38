// Package cpu says which kernels this process runs.
//
// Kernels that are written for the same instructions of an architecture are a [Family], such
// as AVX2 with FMA. The file families_GOARCH.go declares those of an architecture, what each
// needs, and their order. A package of kernels has a [Table] with its loops in plain Go, to
// which files for an architecture add what they have:
//
//	var table = cpu.NewTable(kernels{}) // nil: plain Go
//
//	func init() { // in a file for amd64
//		table.Add(cpu.AVX512, kernels{axpy: axpyAVX512})
//		table.Add(cpu.AVX2, kernels{axpy: axpyAVX2})
//	}
//
// and runs the best that the machine offers, [Table.Now]. So another architecture is a file of
// families here and files of kernels there, and has no files where it has no kernels. The
// choice is made before main begins, from what the processor and the operating system
// offer, and does not change. Variables of a package are there before its tables are
// filled, so they do not keep what Now returns.
//
// The environment variable TENON_CPU names a family to use at most (on amd64 avx512vbmi,
// avx512, avx2 or generic), so that tests and bug reports can run each path on one machine; it
// never raises the choice above what the machine offers. With the build tag purego, and on
// architectures that declare no families, there is only [Generic].
//
// Results may differ between families in the last bits, because the order of
// summation and the use of fused multiply-add differ; within one family they are
// deterministic.
package cpu
