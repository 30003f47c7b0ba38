// Package state holds what changes: variables.
//
// A [Variable] holds a tensor that can be replaced. It is a tensor.Tensor
// itself: an operation on it reads what it holds. A function that is traced
// with a variable in its closure reads the variable anew in each call, and an
// assignment inside the function takes place in each call, after the function's
// last operation and in the order of assignment; reads that follow the
// assignment inside the function see the new value.
//
// [Variable.Update] and [Variable.Add] read and replace in one step, so that none of what
// goroutines do at the same time is lost. [Of] holds a Value of any type, as a variable for
// each tensor that it is made of.
//
// [Tree] finds the variables of a structure and names them by their paths, for
// saving.
//
// Stability: stable.
package state
