// Package dtype names the element types of tensors and says how they combine.
//
// A [DType] is one of bool, the signed and unsigned integers of 8 to 64 bits,
// float16, bfloat16, float32, float64, complex64, complex128 and string. The
// zero DType, [None], stands for a value that has no single element type, such
// as a struct of columns.
//
// [Promote] gives the type of an operation on two types. It follows the
// lattice that JAX documents, without weak types
// (https://docs.jax.dev/en/latest/jep/9407-type-promotion.html), except that
// uint64 does not combine with signed integers: nothing holds both exactly, so
// a cast has to say what is meant.
//
// [F16] and [BF16] store the two half-precision formats; arithmetic on
// them is done in float32.
//
// Stability: stable.
package dtype
