// Package grad differentiates functions of Values, in reverse mode.
//
// There is one mechanism. While a function runs, a tape records the operations on the values
// to differentiate. The tape is then walked backwards with the vector-Jacobian product (VJP)
// of each operation. A tape records any operands: concrete tensors (so plain Go control flow
// works inside the function), symbolic ones (so the gradient becomes part of the graph
// being traced), or values on another tape (so gradients of gradients work).
//
// Inputs and outputs are any nest of Values. A cotangent has the structure of
// its primal: in a value with components, such as a ragged tensor, the floating-point
// components hold the cotangent, and the others, such as row splits, are those of
// the primal.
//
// See A. Griewank and A. Walther, "Evaluating Derivatives", 2nd ed., SIAM 2008.
//
// Stability: stable.
package grad
