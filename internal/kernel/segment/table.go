package segment

import "github.com/tenonml/tenon/internal/cpu"

// A kernelSet holds the kernels for one instruction set. Missing kernels are nil.
type kernelSet struct {
	f32    *floatKernels[float32]
	f64    *floatKernels[float64]
	i32    *rowKernels[int32]
	i64    *rowKernels[int64]
	bytes  *byteKernels
	movers *movers

	sortF32 *networks[float32]
	sortF64 *networks[float64]
	sortI32 *networks[int32]
	sortI64 *networks[int64]
}

var table = cpu.NewTable(kernelSet{})
