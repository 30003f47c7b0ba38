// Package mesh runs one program on many ranks. A [Plan] names the dimensions to
// divide, and the statements of operations determine the rest.
//
// # Meshes and plans
//
// A [Mesh] arranges the ranks of a job, or devices that exist only on paper, along named axes. A
// [Plan] maps dimension names, which are Go types of package named, to axes of the mesh:
//
//	m, err := mesh.New(ctx, comm, mesh.Axis{Name: "data", Size: 4}, mesh.Axis{Name: "model", Size: 2})
//	compute, err := m.Plan(mesh.On[Batch]("data"), mesh.On[Hidden]("model"))
//	stored, err := compute.With(mesh.On[Embed]("data"))
//
// Two names of one tensor on the same axis of the mesh are an error. A second plan may describe how parameters
// and optimizer state are stored; [To] converts from one to the other inside a program.
//
// # Programs
//
// [Function] turns a function of whole values into a function of their parts. It is traced once, on tensors with
// the sizes of the whole, of which each rank holds a part. What an operation does to a divided
// axis follows from its [op.Statement] and its shapes:
//
//   - along an axis that the operation does not involve, each rank computes its part, using the
//     corresponding part of a whole operand;
//   - a sum over a divided axis, such as a contraction, is an open sum: the ranks hold terms of it. Linear
//     operations keep it open. The first operation that is not linear closes it, once: by a reduce-scatter if
//     the result is divided along the same axis of the mesh, by an all-reduce otherwise. Other monoids,
//     such as maxima, are closed immediately, and means are weighted by the true counts;
//   - an operation that needs a whole axis, such as a sort along it, is an error that
//     suggests [Gather] or another plan. Nothing is gathered silently.
//
// Ragged values are divided by rows: each rank has its own rows, with row splits that start at 0, and computes
// with them. The first axis of their entries has a different size on each rank. For positions along a divided axis,
// each rank looks up the entries that it holds, and the result is an open sum.
//
// Sizes need not be multiples of the number of ranks: parts then differ by one entry, and nothing is padded.
//
// Take gradients inside the program: their operations are divided like all others.
//
// [Func.Explain] lists each collective with its bytes and the line of the program that caused it, on a mesh
// that need not exist ([Abstract]). [Explanation.Cost] predicts how long it takes on a [Machine].
//
// # Glossary
//
//   - whole: each rank has all of the tensor
//   - divided: each rank has some entries of the axis
//   - open sum: a tensor that is the sum of what the ranks hold
//
// Stability: experimental.
package mesh
