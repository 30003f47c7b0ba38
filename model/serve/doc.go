// Package serve answers calls of functions over Values from other processes.
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
// [Server.AddFolder] serves models from disk in one version or several, [Server.AddModel] and
// [Server.AddFunction] those that the program has, and [Rows] makes a function over Go structs
// one that is served. A [Client] calls them, with Values, or with structs by [CallRows]. A [Server]
// is an http.Handler too, and shows a page at /.
//
// # Protocols
//
// One port speaks, over HTTP/1.1 and HTTP/2, with or without TLS:
//
//   - the Open Inference Protocol v2, as JSON, with Triton's binary tensors
//     (/v2/models/NAME/infer), and as gRPC, with Triton's stream
//   - TensorFlow Serving's REST (/v1/models/NAME:predict), with ragged lists and records, its
//     classify and regress, and its gRPC
//   - JSON by the function's own Specs (/call/NAME), described by /openapi.json
//   - Arrow's IPC streams (/v2/models/NAME/infer)
//
// Protocols of flat tensors get arguments that are made of several tensors by derived names:
// x.flat_values and x.row_splits.0 of a ragged one, x.field of records, x.mask and x.values of
// what may be missing, x.tag and x.variant of unions, x.entries.key and x.entries.value of
// maps. A whole argument may also be JSON.
//
// # Batches
//
// Calls of a batched function that wait at the same time are joined along the first axis,
// as Values: rows of different lengths stay as they are and nothing is padded. Answers are
// divided again. A call that fails in a batch is run by itself, so that it never fails its
// neighbours. A batch has a budget of rows and one of elements; calls have priorities, and those
// that would be late by what runs have taken are refused when they come. Functions of saved models
// are batched where their operations state that each row is answered by itself.
//
// # Errors
//
// Bad input names the argument and field at fault. Nothing of the program's inside, such as
// source lines or stacks, is told.
//
// Stability: experimental.
package serve
