//go:build !amd64 || purego

package elementwise

import "github.com/tenonml/tenon/dtype"

// Without assembly every accessor falls through to the plain Go kernels.

func asmUnaryInt32(Op) func(dst, x []int32)                          { return nil }
func asmUnaryInt64(Op) func(dst, x []int64)                          { return nil }
func asmUnaryFloat32(Op) func(dst, x []float32)                      { return nil }
func asmUnaryFloat64(Op) func(dst, x []float64)                      { return nil }
func asmBinaryInt32(Op) func(dst, x, y []int32) int                  { return nil }
func asmBinaryInt64(Op) func(dst, x, y []int64) int                  { return nil }
func asmBinaryFloat32(Op) func(dst, x, y []float32) int              { return nil }
func asmBinaryFloat64(Op) func(dst, x, y []float64) int              { return nil }
func asmBinaryVS[T any](Op) func(dst, x []T, y T) int                { return nil }
func asmBinarySV[T any](Op) func(dst []T, x T, y []T) int            { return nil }
func asmCompareInt32(Op) func(dst []bool, x, y []int32)              { return nil }
func asmCompareInt64(Op) func(dst []bool, x, y []int64)              { return nil }
func asmCompareFloat32(Op) func(dst []bool, x, y []float32)          { return nil }
func asmCompareFloat64(Op) func(dst []bool, x, y []float64)          { return nil }
func asmCompareVS[T any](Op) func(dst []bool, x []T, y T)            { return nil }
func asmTernaryFloat32(Op) func(dst, x, y, z []float32)              { return nil }
func asmTernaryFloat64(Op) func(dst, x, y, z []float64)              { return nil }
func asmSelect[T any](dst []T, cond []bool, x, y []T) int            { return 0 }
func selects[T any]() bool                                           { return false }
func asmClip[T any](dst, x []T, lo, hi T) bool                       { return false }
func asmConvert[D, S any](func(dst []D, x []S)) func(dst []D, x []S) { return nil }
func widenF16(dst []float32, x []dtype.F16)                          { widenF16Go(dst, x) }
func widenBF16(dst []float32, x []dtype.BF16)                        { widenBF16Go(dst, x) }
func narrowF16(dst []dtype.F16, x []float32)                         { narrowF16Go(dst, x) }
func narrowBF16(dst []dtype.BF16, x []float32)                       { narrowBF16Go(dst, x) }
func asmStreamUnary(Op) func(dst, x []float32)                       { return nil }
func asmStreamBinary(Op) func(dst, x, y []float32) int               { return nil }
func asmStreamBinaryVS(Op) func(dst, x []float32, y float32) int     { return nil }

func shortWay[T any](*[forms]BinaryFunc, Op) {}
