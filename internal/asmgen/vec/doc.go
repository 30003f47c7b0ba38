// Package vec lets a generator write a vector loop once for several element
// types and for both AVX-512 and AVX2.
//
// A [Machine] is an element type and a vector width. Its methods emit the
// instruction that the pair calls for and return the register of the result, so
// that a formula reads as one: m.Mul(x, m.Add(y, vec.Const(1))). Operands that
// may come from memory are any: a register, a [Const], or an avo memory operand.
//
// [Machine.Map] wraps a formula over vectors into a function over arrays, with
// an unrolled main loop and a masked tail, so that a lane's result never depends
// on its position.
package vec
