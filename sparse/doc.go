// Package sparse holds tensors most of whose elements are zero.
//
// # Forms
//
// A [*Tensor] in coordinate form (COO) is a list of values, the coordinates of each,
// and a dense shape, of any rank. Elements without a value are zero, the empty string
// or false. The order of the values is not prescribed: what needs the row-major one
// sorts, and [Tensor.Reorder] does it once. Numbers at the same coordinates add up.
//
//	indices     [[0 1] [2 0]]
//	values      [5. 7.]
//	dense shape [3 2]          [[0. 5.] [0. 0.] [7. 0.]]
//
// A [*Matrix] is compressed by rows (CSR) or by columns (CSC): the form for products.
// [ToCSR], [ToCSC] and [Matrix.ToCOO] go from one to the other.
//
// The parts may be symbolic, so sparse tensors are arguments and results of functions,
// loop variables and so on, like any other Value, and everything here can be recorded
// and differentiated with respect to the values.
//
// # Operations
//
// The operations of package ops mean what they do to the dense tensor. They take
// sparse operands where the result is sparse again or smaller:
//
//   - elementwise ones that give zero for zeros (sin, abs, sqrt, x·3, x²; x+y, max(x, y)
//     of two sparse operands, which broadcast), and those that give zero where one
//     operand is (a sparse tensor times, or divided by, a dense one)
//   - sums, means, extremes, any and counts along axes
//   - products with dense and sparse matrices and vectors
//   - transpose, reshape, expand, squeeze, index, slice, gather, concat, stack, split, pad with
//     zeros
//
// Anything else is an error that offers to densify. The functions and methods of this
// package are those of tf.sparse that do not have such a meaning, or take options:
// [Tensor.Softmax] and [Tensor.ReduceMax], for which elements without a value do not
// exist, [Tensor.FillEmptyRows], [Tensor.BinCount], [Cross], [Add] with a threshold,
// and so on.
//
// Stability: experimental.
package sparse
