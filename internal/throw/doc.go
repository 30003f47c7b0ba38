// Package throw holds the one way in which this module panics.
//
// Expression functions such as ops.Add return a single value, so that
// formulas read like formulas. What goes wrong inside them is thrown: a panic
// with a carrier that is private to this package. Who recovers asks [Recovered]
// whether a panic is one of ours, and lets every other one pass with [Again].
//
// A fault of the module itself, such as a kernel that is given slices that do not
// fit, is no error that a user could mend: [Bug] panics with a text.
package throw
