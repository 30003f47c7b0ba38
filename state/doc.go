// Package state implements variables.
//
// A [Variable] holds a tensor that can be replaced. It is itself a tensor.Tensor:
// an operation on it reads its current value. A function traced
// with a variable in its closure reads the variable anew in each call. An
// assignment inside the function takes place in each call, after the function's
// last operation and in the order of assignment; reads that follow the
// assignment inside the function see the new value.
//
// [Variable.Update] and [Variable.Add] read and replace in one step, so that concurrent
// goroutines lose no update. [Of] stores a Value of any type, with a variable for
// each of its tensors.
//
// [Tree] finds the variables of a structure and names them by their paths, for
// saving.
//
// Stability: stable.
package state
