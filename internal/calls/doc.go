// Package calls makes functions of the most common types that have a registered type among their
// parameters or results, without reflection: package reflect can make a function of any type, but
// each call of it copies the arguments several times.
//
// A type is registered where it is known at compile time: by
// [github.com/tenonml/tenon/ext.Register].
package calls
