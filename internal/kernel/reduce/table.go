package reduce

import "github.com/tenonml/tenon/internal/cpu"

// A kernelSet holds the kernels for one instruction set. Missing kernels are nil.
type kernelSet struct {
	f32 *kernels[float32]
	f64 *kernels[float64]
	i32 *kernels[int32]
	i64 *kernels[int64]
}

var table = cpu.NewTable(kernelSet{})

// assembly returns the kernels for T, or nil.
func assembly[T any]() *kernels[T] {
	var k any
	switch any((*T)(nil)).(type) {
	case *float32:
		k = table.Now().f32
	case *float64:
		k = table.Now().f64
	case *int32:
		k = table.Now().i32
	case *int64:
		k = table.Now().i64
	}
	t, _ := k.(*kernels[T])
	return t
}
