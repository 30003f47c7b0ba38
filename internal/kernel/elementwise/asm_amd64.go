//go:build amd64 && !purego

package elementwise

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/cpu"
)

func init() {
	table.Add(cpu.AVX512, kernelSet{
		f32: &avx512F32, f64: &avx512F64, i32: &avx512I32, i64: &avx512I64,
		select32: select32AVX512, select64: select64AVX512,
		widenF16: f16ToF32AVX512, widenBF16: bf16ToF32AVX512,
		narrowF16: f32ToF16AVX512, narrowBF16: f32ToBF16AVX512,
		convert: map[conversion]any{
			{dtype.Float64, dtype.Float32}: f32ToF64AVX512,
			{dtype.Float32, dtype.Float64}: f64ToF32AVX512,
			{dtype.Float32, dtype.Int32}:   i32ToF32AVX512,
			{dtype.Float64, dtype.Int32}:   i32ToF64AVX512,
			{dtype.Int64, dtype.Int32}:     i32ToI64AVX512,
			{dtype.Float32, dtype.Uint8}:   u8ToF32AVX512,
			{dtype.Int32, dtype.Uint8}:     u8ToI32AVX512,
			{dtype.Int32, dtype.Float32}:   f32ToI32AVX512,
			{dtype.Int32, dtype.Float64}:   f64ToI32AVX512,
			{dtype.Int64, dtype.Float32}:   f32ToI64AVX512,
			{dtype.Int64, dtype.Float64}:   f64ToI64AVX512,
			{dtype.Int32, dtype.Int64}:     i64ToI32AVX512,
			{dtype.Float64, dtype.Int64}:   i64ToF64AVX512,
			{dtype.Float32, dtype.Int64}:   i64ToF32AVX512,
		},
	})
	table.Add(cpu.AVX2, kernelSet{
		f32: &avx2F32, f64: &avx2F64, i32: &avx2I32, i64: &avx2I64,
		select32: select32AVX2, select64: select64AVX2,
		widenF16: f16ToF32AVX2, widenBF16: bf16ToF32AVX2,
		narrowF16: f32ToF16AVX2, narrowBF16: f32ToBF16AVX2,
		convert: map[conversion]any{
			{dtype.Float64, dtype.Float32}: f32ToF64AVX2,
			{dtype.Float32, dtype.Float64}: f64ToF32AVX2,
			{dtype.Float32, dtype.Int32}:   i32ToF32AVX2,
			{dtype.Float64, dtype.Int32}:   i32ToF64AVX2,
			{dtype.Int64, dtype.Int32}:     i32ToI64AVX2,
			{dtype.Float32, dtype.Uint8}:   u8ToF32AVX2,
			{dtype.Int32, dtype.Uint8}:     u8ToI32AVX2,
			{dtype.Int32, dtype.Float32}:   f32ToI32AVX2,
		},
	})
}
