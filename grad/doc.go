// Package grad differentiates functions of Values, in reverse mode.
//
// There is one mechanism: while a function runs, the operations on the values
// that are differentiated are put on a tape; then the tape is walked back with
// each operation's vector-Jacobian product (VJP). A tape records whatever the
// operands are: concrete tensors (so plain Go control flow works inside the
// function), symbolic ones (so the gradient becomes part of the graph that is
// being traced), or values on another tape (so gradients of gradients work).
//
// Inputs and outputs are any nest of Values. A cotangent has the structure of
// its primal: for a value with components, such as a ragged tensor, the floating
// components hold the cotangent and the others, such as row splits, are the
// primal's own.
//
// See A. Griewank and A. Walther, "Evaluating Derivatives", 2nd ed., SIAM 2008.
//
// Stability: stable.
package grad
