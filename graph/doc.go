// Package graph holds programs as data: operations on symbolic tensors.
//
// A [Graph] is a list of [Node]s in the order in which they were recorded, each
// an operation with its arguments, with parameters in front and outputs at the
// end. It is in static single assignment form: every [Value] is defined once.
// Operations that branch or loop hold graphs of their own as attributes, called
// regions; what such a region uses from outside is passed to it as an argument.
//
// A Value is a tensor.Tensor of which only the element type and the known sizes
// exist. An operation on one is recorded by the graph it belongs to; nothing
// else is needed to trace a function than to call it with Values. There is no
// current graph. Sizes that depend on data are shape.Unknown, and every
// operation accepts them.
//
// Graphs nest by level: what is recorded inside a later trace may use values of
// an earlier one, which become captures of the inner graph.
//
// Stability: experimental.
package graph
