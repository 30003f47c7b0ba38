//go:build !amd64 || purego

package fused

import "github.com/tenonml/tenon/dtype"

func kernelsOf(act Activation, past bool) (biasKernel, affineKernel) { return nil, nil }

func assembly[T float]() *kernels[T] { return nil }

func chainKernelsOf(d dtype.DType) *chainKernels { return nil }
