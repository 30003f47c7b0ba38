// Package sparse holds tensors most of whose elements are zero.
//
// A sparse [*Tensor] in coordinate form (COO) is a list of values, the coordinates
// of each, and a dense shape. Elements without a value are zero. The order of the
// values is not prescribed: what needs the row-major one sorts.
//
//	indices     [[0 1] [2 0]]
//	values      [5. 7.]
//	dense shape [3 2]          [[0. 5.] [0. 0.] [7. 0.]]
//
// The components may be symbolic, so sparse tensors are arguments and results of
// functions, loop variables and so on, like any other Value.
package sparse
