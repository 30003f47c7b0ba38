// Package reduce implements the loops that combine elements along one dimension: reductions,
// cumulative operations, and the operations that normalise rows.
//
// # Layout
//
// A reduction treats its operand as [outer, n, inner] in row-major order and reduces n. A reduction
// over the last axis has inner = 1, one over the first axis has outer = 1, and adjacent axes that
// are reduced together are merged into one. [Of] and [Scan] return the kernels by element type;
// [Softmax], [LayerNorm] and their relatives work on contiguous rows of float32 or float64; [Lines]
// and [Halves] extend them to other layouts and to half precision.
//
// # Numbers
//
// Floats are summed pairwise in float64 within a block and with compensation across blocks, so the
// error does not grow with the length. The division into blocks depends only on the shape, so
// results are bitwise identical for any number of workers. Max, Min and their positions propagate
// NaN.
//
// # Workers
//
// Reductions of more than about 32K elements are divided among the workers of package par, across
// rows if there are several and within them otherwise.
package reduce
