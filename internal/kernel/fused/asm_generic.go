//go:build !amd64 || purego

package fused

func kernelsOf(act Activation, past bool) (biasKernel, affineKernel) { return nil, nil }

func assembly[T float]() *kernels[T] { return nil }
