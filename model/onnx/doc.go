// Package onnx reads and writes models of ONNX (https://onnx.ai).
//
//	m, err := onnx.Open("model.onnx")
//	out, err := m.Call(x)              // in the order of m.Inputs and m.Outputs
//
// A model that was read is an ordinary function: called with symbolic tensors, inside of
// [function.New] say, its nodes become operations of the graph that is traced. So it is
// compiled, differentiated, vectorised and stored as any other function:
//
//	f := m.Function()                  // from inputs by name to outputs by name
//	s, err := m.Saved()                // a saved.Model with the function "main"
//
// Weights that are floating numbers are variables ([Model.Variables]), so that a model is
// trained further; other weights are constants.
//
// # Types
//
// Tensors of all element types that Tenon has are as they are. Elements of 8, 4 and 2 bits
// that it lacks (float8e4m3fn, int4 and so on) are read as those of a type that holds them,
// where an operation asks for their value only: Cast and DequantizeLinear, as quantised
// weights have it. Any other use of them is refused when the model is read. A sequence is a
// []any, whose length is known when a model is traced; an optional value is itself or nil.
// A sparse weight is written out.
//
// # Operations
//
// docs/onnx.md lists them, and which cases of ONNX's own suite are left out and why. What
// decides about shapes, such as the axes of a reduction, has to be known when a model is
// traced: it is where it comes from weights or from sizes that are known. Random operations
// draw the same numbers in each call. Versions of operations from 6 on are read; an
// operation that is not known is named when the model is read, before any weight is.
//
// # Writing
//
// [Write] writes a function of a model of package saved, for onnxruntime and others:
//
//	m := saved.NewModel()
//	err := m.Add("predict", predict, inputSpec)
//	err = onnx.Write("model.onnx", m)
//
// Dense operations, branches and loops can be written, and of ragged values what comes down to
// segments. Operations that ONNX lacks are written by others where that gives the same
// result; elements of types that one does not take are converted around it. What is random, and
// functions that assign to variables, are refused with their place and line. The operations are
// those of version 21, which programs from the end of 2024 on run. Complex numbers are only moved.
//
// # Safety
//
// Weights in other files have to lie in the folder of the model, in files that are reached
// by no symbolic link; a hard link is a name of an ordinary file, which nothing tells from its
// other names. Nodes are brought into an order in which they can run; values that nothing makes,
// that are made twice or that need themselves are refused when a model is read. Sizes are compared with the bytes that are there before memory is taken. No
// code of the model is run: it has none.
//
// Stability: experimental.
package onnx
