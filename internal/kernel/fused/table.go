package fused

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/cpu"
)

// A kernelSet holds the kernels for one instruction set. Missing kernels are nil.
type kernelSet struct {
	pairs    *[activationCount]pairs
	f32      *kernels[float32]
	f64      *kernels[float64]
	chainF32 *chainKernels
	chainF64 *chainKernels
}

// pairs are the kernels of one activation.
type pairs struct {
	bias, biasStream     biasKernel
	affine, affineStream affineKernel
}

var table = cpu.NewTable(kernelSet{})

// kernelsOf returns the kernels of an activation, with non-temporal stores if past is set, or nil.
func kernelsOf(act Activation, past bool) (biasKernel, affineKernel) {
	list := table.Now().pairs
	if list == nil {
		return nil, nil
	}
	if p := &list[act]; past {
		return p.biasStream, p.affineStream
	}
	return list[act].bias, list[act].affine
}

// assembly returns the optimizers for T, or nil.
func assembly[T float]() *kernels[T] {
	var k any
	switch any(T(0)).(type) {
	case float32:
		k = table.Now().f32
	case float64:
		k = table.Now().f64
	}
	t, _ := k.(*kernels[T])
	return t
}

// chainKernelsOf returns the kernels of chains on elements of a type, or nil.
func chainKernelsOf(d dtype.DType) *chainKernels {
	switch d {
	case dtype.Float32:
		return table.Now().chainF32
	case dtype.Float64:
		return table.Now().chainF64
	}
	return nil
}
