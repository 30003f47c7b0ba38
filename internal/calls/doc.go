// Package calls makes functions of the commonest types that have a registered type among
// their arguments or results, without reflection: package reflect can make a function of
// any type, but a call of it copies its arguments several times.
//
// A type is registered where it is known when the program is compiled: by
// [github.com/tenonml/tenon/ext.Register].
package calls
