// Package function turns Go functions of Values into graphs that are traced
// once and run many times.
//
//	step := function.New(func(x, y tensor.Tensor) tensor.Tensor {
//		return ops.Tanh(ops.Add(ops.MatMul(x, w), y))
//	})
//	out := step.Call(x, y)
//
// Arguments and results are any nest of Values and plain Go data. The Specs of the Values and the
// plain data together are the signature of a call. A call with a new signature traces the function:
// the Go code runs once on symbolic tensors, its operations are recorded in a graph, and the graph
// is optimized and planned. Later calls with that signature run the plan. After a few signatures
// that differ only in sizes, one trace with those sizes unknown serves all of them.
//
// Go code in the function runs only during tracing: its branches and loops are decided
// then, and it prints then. To branch or loop on data, use package control.
//
// Functions among the arguments, and fields that package nest does not walk, are part of the
// signature by identity: a closure created for each call is traced each time. At most
// [Options].MaxTraces traces are kept.
//
// A function must therefore not depend on Go data that changes, or change any. A captured
// number keeps the value it had in the first call, and a counter counts traces. Pass
// changing data as an argument, or hold it in a [state.Variable]. A traced value stored
// outside the function is useless after the trace, and an operation on it is an error.
// [Options].Check finds such mistakes in one function, and [CheckTraces] in all: each call then
// traces again, compares the two graphs, and checks whether the second one is still referenced.
//
// A call with symbolic arguments, or with arguments on a gradient tape, runs the Go function
// itself, which becomes part of that trace or tape.
//
// Stability: stable.
package function
