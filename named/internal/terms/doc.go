// Package terms reads the texts that name the dimensions of an einsum. Named tensors use it to run
// an einsum, and the checker of dimensions to predict what it gives.
package terms
