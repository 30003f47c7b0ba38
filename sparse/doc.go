// Package sparse implements tensors with mostly zero elements.
//
// # Formats
//
// A [*Tensor] in coordinate form (COO) is a list of values, the coordinates of each,
// and a dense shape, of any rank. Elements without a value are zero, the empty string
// or false. The values may come in any order: operations that need row-major order
// sort them, and [Tensor.Reorder] does it once. Numbers at the same coordinates add up.
//
//	indices     [[0 1] [2 0]]
//	values      [5. 7.]
//	dense shape [3 2]          [[0. 5.] [0. 0.] [7. 0.]]
//
// A [*Matrix] is compressed by rows (CSR) or by columns (CSC), the format for products.
// [ToCSR], [ToCSC] and [Matrix.ToCOO] convert between them.
//
// The parts may be symbolic, so sparse tensors are arguments and results of functions,
// loop variables and so on, like any other Value. Everything here can be recorded,
// and differentiated with respect to the values.
//
// # Operations
//
// The operations of package ops give the same results as on the dense tensor. They accept
// sparse operands if the result is sparse again or smaller:
//
//   - elementwise operations that map zeros to zero (sin, abs, sqrt, x·3, x²; x+y, max(x, y)
//     of two sparse operands, which broadcast), and those that give zero if one
//     operand is zero (a sparse tensor times, or divided by, a dense one)
//   - sums, means, extremes, any and counts along axes
//   - products with dense and sparse matrices and vectors
//   - transpose, reshape, expand, squeeze, index, slice, gather, concat, stack, split, pad with
//     zeros
//
// Anything else is an error that suggests to densify. The functions and methods of this
// package are those of tf.sparse that have another meaning, or take options:
// [Tensor.Softmax] and [Tensor.ReduceMax], which ignore elements without a value,
// [Tensor.FillEmptyRows], [Tensor.BinCount], [Cross], [Add] with a threshold,
// and so on.
//
// Stability: experimental.
package sparse
