// Package reduce holds the loops that combine elements along one dimension:
// reductions, cumulative operations, and the operations that normalise rows.
//
// # Layout
//
// A reduction sees its operand as [outer, n, inner] in row-major order and
// reduces n. A reduction over the last axis has inner 1, one over the first
// axis outer 1, and neighbouring axes that are reduced together merge into one.
// [Of] and [Scan] return the kernels by element type; [Softmax], [LayerNorm]
// and their relatives work on contiguous rows of float32 or float64; [Lines]
// and [Halves] bring other layouts and half precision to them.
//
// # Numbers
//
// Floats are summed pairwise in float64 within a block and with compensation
// across blocks, so the error does not grow with the length. The cut into
// blocks depends on the shape only: results have the same bits for any number
// of workers. Max, Min and their positions propagate NaN.
//
// # Workers
//
// Reductions of more than some 32K elements are shared among the workers of
// package par, across rows where there are several and within them otherwise.
package reduce
