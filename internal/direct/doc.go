// Package direct runs operations on tensors in memory past binding, dispatch and
// inference, which take longer than the work where there are few elements.
//
// Nobody else can answer a call whose arguments are all plain tensors in memory: there
// are no handlers for these and no recorder among them. What is left to do is to check
// the arguments and to run the kernel. [Eval] and [EvalN] do that where the arguments
// need no conversion, and otherwise call the operation as [op.Eval] does, which also
// says what is wrong with them. [Apply] does it for a handler that passes an operation
// on to the parts of its value.
//
// Whether arguments fit is what the operation's Infer function says, unless the operation
// has a check of its own that takes less: see [Check].
package direct
