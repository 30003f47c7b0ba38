// Package optable is the table of operations: for each one, sample calls and a
// readable reference, against which generic tests compare everything that the
// library can do with an operation.
//
// # Adding a row
//
// A row names the operation and lists calls. A call has arguments as for op.Do, and
// the reference computes what they give, in float64 and without any of the
// library's code:
//
//	optable.Add(Row{
//		Op: "reduce_sum",
//		Calls: over(floats, shapes, func(x tensor.Tensor) []Call {
//			return calls(x, nil, false) …
//		}),
//		Ref: func(a []Array, attrs []any) []Array { … },
//	})
//
// Helpers make the rows of whole classes: [Unary], [Binary], [Reduction]. A test
// fails for a registered operation without a row.
//
// # What the tests do with a row
//
//   - values: the call's results against Ref, within Tol units in the last place of
//     the element type, for each call, and again with views with gaps and
//     negative strides in place of the operands;
//   - Infer: its Specs, with the operands' sizes known, unknown, and with unknown rank,
//     against the results;
//   - gradients: the VJP against central differences for float64 calls, and where the
//     row is smooth also the gradient of the gradient;
//   - batching: the Batch rule against row by row;
//   - dispatch: a masked-like and a labelled-like type of the tests' own, written
//     with nothing but public API.
//
// Other packages' tests use [Rows] for what they know: traced against eager, every
// extension type's handler, save and load.
package optable
