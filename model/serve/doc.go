// Package serve serves functions over Values to other processes.
//
//	s := serve.New(serve.Options{})
//	err := s.Add(serve.Func{
//		Name:    "sums",
//		Args:    []serve.Arg{{Name: "tokens", Spec: tokensSpec}},
//		Results: []serve.Arg{{Name: "sums", Spec: sumsSpec}},
//		Call: func(ctx context.Context, args []tenon.Value) ([]tenon.Value, error) {
//			return []tenon.Value{ops.Sum(args[0], -1)}, nil
//		},
//		Batched: true,
//	})
//	err = s.ListenAndServe(ctx, "127.0.0.1:8000")
//
// [Server.AddFolder] serves models from disk in one or several versions, [Server.AddModel] and
// [Server.AddFunction] those that the program has in memory, and [Rows] converts a function over Go structs
// for serving. A [Client] calls them with Values, or [CallRows] with structs. A [Server]
// is also an http.Handler, and shows a page at /.
//
// # Protocols
//
// One port speaks these protocols over HTTP/1.1 and HTTP/2, with or without TLS:
//
//   - the Open Inference Protocol v2, as JSON with Triton's binary tensors
//     (/v2/models/NAME/infer), and as gRPC with Triton's stream
//   - TensorFlow Serving's REST (/v1/models/NAME:predict), with ragged lists and records, its
//     classify and regress, and its gRPC
//   - JSON according to the function's Specs (/call/NAME), described by /openapi.json
//   - Arrow IPC streams (/v2/models/NAME/infer)
//
// Protocols of flat tensors pass the parts of an argument under derived names:
// x.flat_values and x.row_splits.0 for a ragged tensor, x.field for records, x.mask and x.values for
// optional values, x.tag and x.variant for unions, x.entries.key and x.entries.value for
// maps. A whole argument may also be JSON.
//
// # Batches
//
// The server joins waiting calls of a batched function along the first axis, as Values: rows of different
// lengths stay ragged and nothing is padded. It then splits the results again. If a batch fails, its calls
// run again one by one, so that a bad call does not make others fail. A batch is limited in rows and in
// elements. Calls have priorities, and a call that would miss its deadline, judging by earlier runs, is
// refused when it arrives. Functions of saved models are batched if their operations state that each row is
// computed independently.
//
// # Errors
//
// Errors name the bad argument and field. They reveal nothing about the program, such as
// source lines or stacks.
//
// Stability: experimental.
package serve
