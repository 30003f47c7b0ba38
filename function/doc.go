// Package function turns Go functions of Values into graphs that are traced
// once and run many times.
//
//	step := function.New(func(x, y tensor.Tensor) tensor.Tensor {
//		return ops.Tanh(ops.Add(ops.MatMul(x, w), y))
//	})
//	out := step.Call(x, y)
//
// Arguments and results are any nest of Values and plain Go data. The Specs of
// the Values and the plain data together are the signature of a call. A new
// signature is traced: the Go function runs once on symbolic tensors, what it
// does with them becomes a graph, and the graph is optimised and planned. Later
// calls with that signature run the plan. After a few signatures that differ in
// sizes only, a trace with those sizes unknown serves all of them.
//
// Go code in the function runs while it is traced and not again: its branches
// and loops are decided then, printing prints then. To branch or loop on data,
// use package control.
//
// Functions among the arguments, and fields that package nest does not walk, belong to the
// signature by identity: a closure that is made anew for each call is traced anew. At most
// [Options].MaxTraces traces are kept.
//
// So a function must not depend on Go data that change, nor change any: a number that it
// captures is that of the first call for ever, and a counter counts traces. What changes
// is an argument, or held in a [state.Variable]. A traced value that is stored outside is
// of no use after the trace, and an operation on it is an error. Such faults are found by
// [Options].Check for one function and by [CheckTraces] for all: each call then traces
// again, compares the two graphs, and looks whether the second is still held.
//
// A call with symbolic arguments, or with arguments that gradients are recorded
// for, runs the Go function itself, which then becomes part of that trace or
// tape.
//
// Stability: stable.
package function
