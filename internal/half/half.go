package half

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Is reports whether a type is one of floating-point numbers of 16 bits.
func Is(d dtype.DType) bool { return d == dtype.Float16 || d == dtype.BFloat16 }

// Wide returns floating-point numbers of 16 bits as float32, and others as they are.
func Wide(x tensor.Tensor) tensor.Tensor {
	if Is(x.DType()) {
		return ops.Cast(x, dtype.Float32)
	}
	return x
}

// Narrow returns what was computed from [Wide] elements of type d in that type, if it is one of 16 bits.
func Narrow(y tensor.Tensor, d dtype.DType) tensor.Tensor {
	if Is(d) {
		return ops.Cast(y, d)
	}
	return y
}
