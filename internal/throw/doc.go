// Package throw implements the only way in which this module panics.
//
// Expression functions such as ops.Add return a single value, so that formulas read like formulas.
// Errors inside them are thrown: a panic with a carrier type that is private to this package. A
// function that recovers asks [Recovered] whether the panic is one of ours, and repanics with
// [Again] otherwise.
//
// A fault of the module itself, such as slices of the wrong length passed to a kernel, is not an
// error that a user could fix: [Bug] panics with a string.
package throw
