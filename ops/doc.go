// Package ops is the catalogue of operations on tensors. It has a file per family, and
// in it a block per operation with its mathematics, its definition, its
// gradient and the function that calls it.
//
//	y := ops.Mul(x, ops.Sigmoid(x))          // operands broadcast as NumPy's do
//	m := ops.Mean(x, -1)                     // axes count from the end too
//	z := ops.Sub(x, ops.MeanKeep(x, -1))     // …Keep leaves reduced axes with size 1
//
// Arguments have type any: a tensor, any other Value with a type that supports the
// operation, a Go number, or (nested) slices of numbers. Functions return one
// tensor and throw errors, which [tenon.Try] catches.
//
// # Conventions
//
// Negative axes count from the end. Axes are the last arguments; leaving them out
// means all of them, and a repeated axis is an error. Options come last, in a struct with a
// useful zero value. Shapes may be unknown: results are as specific
// as the operands allow, and a detectable mismatch is an error at once. Sizes
// that may depend on data are tensor operands.
//
// Operands of different element types are promoted (see package dtype). A Go
// constant takes the element type of the tensor next to it if that type can hold it.
// Real functions, such as Exp, give float64 for
// integers.
//
// # Gradients
//
// Every gradient is written with operations, so it has a gradient itself. The
// cotangent of a broadcast operand is summed over the stretched axes.
// If several elements tie for a maximum, they share its gradient equally;
// at zero, the gradients of Abs, Sign and Relu are 0. For complex tensors, a
// cotangent is multiplied by the complex conjugate of the derivative.
//
// # Adding an operation
//
// Write a block like the ones here, and a row in internal/optable, which tests
// values, shapes, gradients and dispatch. The helpers are in the files
// internal_*.go:
//
//	internal_infer.go      axes and shapes, for operations whose statement does not tell the shape
//	internal_sizes.go      sizes as operands, for shapes that depend on data
//	internal_define.go     definitions of whole classes: unary, binary, comparison, …
//	internal_loop.go       runs elementwise kernels over broadcast operands, in parallel
//	internal_reduce.go     definitions of reductions, over any axes
//	internal_rows.go       kernels of whole rows (softmax, norms), along any axis
//	internal_contract.go   matrix products of views, contractions by labels
//	internal_move.go       kernels that move elements, indices as operands
//	internal_view.go       what keys select, as views
//	internal_kernels.go    kernels by element type for sorting, scattering and segments
//	internal_grad.go       for VJPs: sums over stretched axes, counts, conjugates
//	internal_batch.go      for Batch rules: aligning and shifting axes
//
// Stability: stable.
package ops
