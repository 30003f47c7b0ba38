//go:build amd64 && !purego

package fused

import "github.com/tenonml/tenon/internal/cpu"

func init() {
	table.Add(cpu.AVX512, kernelSet{&avx512, &avx512F32, &avx512F64,
		&chainKernels{chainF32AVX512, chainRestF32AVX512, 256}, &chainKernels{chainF64AVX512, chainRestF64AVX512, 128}})
	table.Add(cpu.AVX2, kernelSet{&avx2, &avx2F32, &avx2F64,
		&chainKernels{chainF32AVX2, chainRestF32AVX2, 64}, &chainKernels{chainF64AVX2, chainRestF64AVX2, 32}})
}

var avx512 = [activationCount]pairs{
	Identity: {biasIdentityF32AVX512, biasIdentityStreamF32AVX512, affineIdentityF32AVX512, affineIdentityStreamF32AVX512},
	Relu:     {biasReluF32AVX512, biasReluStreamF32AVX512, affineReluF32AVX512, affineReluStreamF32AVX512},
	Gelu:     {biasGeluF32AVX512, biasGeluStreamF32AVX512, affineGeluF32AVX512, affineGeluStreamF32AVX512},
	GeluTanh: {biasGeluTanhF32AVX512, biasGeluTanhStreamF32AVX512, affineGeluTanhF32AVX512, affineGeluTanhStreamF32AVX512},
	Silu:     {biasSiluF32AVX512, biasSiluStreamF32AVX512, affineSiluF32AVX512, affineSiluStreamF32AVX512},
	Sigmoid:  {biasSigmoidF32AVX512, biasSigmoidStreamF32AVX512, affineSigmoidF32AVX512, affineSigmoidStreamF32AVX512},
	Tanh:     {biasTanhF32AVX512, biasTanhStreamF32AVX512, affineTanhF32AVX512, affineTanhStreamF32AVX512},
}

var avx2 = [activationCount]pairs{
	Identity: {biasIdentityF32AVX2, biasIdentityStreamF32AVX2, affineIdentityF32AVX2, affineIdentityStreamF32AVX2},
	Relu:     {biasReluF32AVX2, biasReluStreamF32AVX2, affineReluF32AVX2, affineReluStreamF32AVX2},
	Gelu:     {biasGeluF32AVX2, biasGeluStreamF32AVX2, affineGeluF32AVX2, affineGeluStreamF32AVX2},
	GeluTanh: {biasGeluTanhF32AVX2, biasGeluTanhStreamF32AVX2, affineGeluTanhF32AVX2, affineGeluTanhStreamF32AVX2},
	Silu:     {biasSiluF32AVX2, biasSiluStreamF32AVX2, affineSiluF32AVX2, affineSiluStreamF32AVX2},
	Sigmoid:  {biasSigmoidF32AVX2, biasSigmoidStreamF32AVX2, affineSigmoidF32AVX2, affineSigmoidStreamF32AVX2},
	Tanh:     {biasTanhF32AVX2, biasTanhStreamF32AVX2, affineTanhF32AVX2, affineTanhStreamF32AVX2},
}

var (
	avx512F32 = kernels[float32]{adamF32AVX512, adamStreamF32AVX512, adamIdleF32AVX512, adamIdleStreamF32AVX512, sgdF32AVX512, momentumF32AVX512, nesterovF32AVX512}
	avx512F64 = kernels[float64]{adamF64AVX512, adamStreamF64AVX512, adamIdleF64AVX512, adamIdleStreamF64AVX512, sgdF64AVX512, momentumF64AVX512, nesterovF64AVX512}
	avx2F32   = kernels[float32]{adamF32AVX2, adamStreamF32AVX2, adamIdleF32AVX2, adamIdleStreamF32AVX2, sgdF32AVX2, momentumF32AVX2, nesterovF32AVX2}
	avx2F64   = kernels[float64]{adamF64AVX2, adamStreamF64AVX2, adamIdleF64AVX2, adamIdleStreamF64AVX2, sgdF64AVX2, momentumF64AVX2, nesterovF64AVX2}
)
