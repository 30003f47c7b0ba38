// Package dtype defines the element types of tensors and the rules that combine them.
//
// A [DType] is one of bool, the signed and unsigned integers of 8 to 64 bits,
// float16, bfloat16, float32, float64, complex64, complex128 and string. The
// zero DType, [None], stands for a value without a single element type, such
// as a struct of columns.
//
// [Promote] returns the type of an operation on two types. It follows the
// lattice that JAX documents, without weak types
// (https://docs.jax.dev/en/latest/jep/9407-type-promotion.html), except that
// uint64 does not combine with signed integers: no type holds both exactly, so
// the program must cast explicitly.
//
// [F16] and [BF16] store the two half-precision formats; arithmetic on
// them uses float32.
//
// Stability: stable.
package dtype
