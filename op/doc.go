// Package op defines what an operation is, and dispatches calls of operations.
//
// An [Op] has a name, parameters, a [Statement] that describes what it does to axes and elements, a kernel
// for dense tensors, and a rule for gradients. The shape of its results follows from the statement,
// or from a rule of its own. The catalogue is in package ops; other packages may [Register] more.
//
// [Do] calls an operation. It binds the arguments to parameters, and then asks,
// in this order:
//
//  1. the handlers of the values among the tensor arguments, including those in lists: a
//     type that refines another before the type it refines, otherwise from left
//     to right, each handler once. A handler may decline with [NotHandled];
//  2. a [Recorder], if an argument is one: a symbolic value, or one on a
//     gradient tape;
//  3. the kernel.
//
// A call with only dense tensors goes straight to the kernel. [Explain]
// shows which handlers were asked and which one answered.
//
// A type handles operations with a HandleOp method ([Handler]), or with
// functions registered under its name ([Handle]), for one operation or a
// whole [Class] of them. A handler that takes a value apart calls the same
// operation on the parts with [Apply].
//
// The order follows NEP 18, "A dispatch mechanism for NumPy's high level array
// functions" (https://numpy.org/neps/nep-0018-array-function-protocol.html).
//
// Stability: experimental.
package op
