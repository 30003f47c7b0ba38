// Package onnx reads and writes ONNX models (https://onnx.ai).
//
//	m, err := onnx.Open("model.onnx")
//	out, err := m.Call(x)              // in the order of m.Inputs and m.Outputs
//
// A model is an ordinary function. If it is called with symbolic tensors, for example inside
// [function.New], its nodes become operations of the graph being traced. It can therefore be
// compiled, differentiated, vectorised and stored like any other function:
//
//	f := m.Function()                  // from inputs by name to outputs by name
//	s, err := m.Saved()                // a saved.Model with the function "main"
//
// Floating-point weights are variables ([Model.Variables]), so a model can be
// trained further; other weights are constants.
//
// # Types
//
// Tensors of all element types that Tenon has are read unchanged. Elements of 8, 4 and 2 bits
// that it lacks (float8e4m3fn, int4 and so on) are converted to a type that holds them
// if an operation needs only their value: Cast and DequantizeLinear, which are used with quantised
// weights. Reading a model that uses them in any other way is an error. A sequence is a
// []any with a length that is known during tracing. An optional value is the value itself or nil.
// A sparse weight is converted to a dense one.
//
// # Operations
//
// docs/onnx.md lists the operations, and the cases of ONNX's own suite that are omitted, with reasons.
// Operands that determine shapes, such as the axes of a reduction, must be known during tracing,
// which they are if they come from weights or known sizes. Random operations
// draw the same numbers in each call. Operations are supported from opset version 6 on. Reading a
// model with an unknown operation is an error that names it, before any weight is read.
//
// # Writing
//
// [Write] writes a function of a model of package saved, for onnxruntime and others:
//
//	m := saved.NewModel()
//	err := m.Add("predict", predict, inputSpec)
//	err = onnx.Write("model.onnx", m)
//
// Dense operations, branches and loops can be written, and ragged operations that reduce to
// segments. An operation that ONNX lacks is composed of others if the result is the same.
// If an operation does not accept an element type, its operands are converted. Random operations and
// functions that assign to variables are errors with their place and line. The operations are
// those of opset 21, which programs from the end of 2024 on support. Complex numbers can only be moved.
//
// # Safety
//
// Weights in other files must lie in the folder of the model, and not behind a
// symbolic link; hard links cannot be distinguished from ordinary files.
// Nodes are sorted into an order in which they can run. Values that no node defines,
// that are defined twice or that depend on themselves are errors when a model is read. Sizes are checked
// against the available bytes before memory is allocated. Reading a model runs no code: a model
// has none.
//
// Stability: experimental.
package onnx
