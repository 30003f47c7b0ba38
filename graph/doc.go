// Package graph represents programs as data: operations on symbolic tensors.
//
// A [Graph] is a list of [Node]s in the order in which they were recorded. Each node is
// an operation with its arguments; parameters come first and outputs last.
// The graph is in static single assignment form: every [Value] is defined once.
// Operations that branch or loop have graphs as attributes, called
// regions; values that a region uses from outside are passed to it as arguments.
//
// A Value is a tensor.Tensor with an element type and known sizes but no
// elements. The graph it belongs to records the operations on it, so calling a
// function with Values is all it takes to trace it. There is no
// current graph. Sizes that depend on data are shape.Unknown, and every
// operation accepts them.
//
// Graphs nest by level: operations recorded in a later trace may use values of
// an earlier one, which become captures of the inner graph.
//
// Stability: experimental.
package graph
