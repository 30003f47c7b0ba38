// Package mesh runs one program on many ranks: a [Plan] says by the names of dimensions what is
// divided, and the statements of operations say the rest.
//
// # Meshes and plans
//
// A [Mesh] arranges the ranks of a job, or devices that exist on paper only, along named axes. A
// [Plan] maps the names of dimensions, which are Go types of package named, to axes of the mesh:
//
//	m, err := mesh.New(ctx, comm, mesh.Axis{Name: "data", Size: 4}, mesh.Axis{Name: "model", Size: 2})
//	compute, err := m.Plan(mesh.On[Batch]("data"), mesh.On[Hidden]("model"))
//	stored, err := compute.With(mesh.On[Embed]("data"))
//
// Two names of one tensor on one axis of the mesh are an error. A second plan may say how parameters
// and the state of an optimizer are stored; [To] changes from one to the other inside of a program.
//
// # Programs
//
// [Function] makes a function of whole values one of their parts: it is traced once, on tensors that
// have the sizes of the whole and of which each rank holds a part. What an operation does to a divided
// axis follows from its [op.Statement] and from its shapes:
//
//   - along an axis that the operation is not about, each rank computes its part, and operands that
//     are whole give a part of themselves;
//   - a sum over a divided axis, such as a contraction, is a sum over ranks that is not closed yet. What
//     is linear goes on with it; the first that is not closes it, once: by a reduce-scatter where
//     the result is divided along the same axis of the mesh, by an all-reduce otherwise. Other monoids,
//     such as maxima, are closed where they arise, and means are weighted by true counts;
//   - an operation that needs an axis as a whole, such as a sort along it, is an error that
//     says how to have it: by [Gather], or by another plan. Nothing is gathered silently.
//
// Ragged values are divided by their rows: each rank has rows of its own, with row splits that begin at 0, and computes
// with them. The first axis of their entries has another size on each rank. Positions along an axis that is divided are
// looked up by all ranks, each of which knows the entries that are its own: the result is an open sum of them.
//
// Sizes need not be multiples of the number of ranks: parts then differ by one entry, and nothing is padded.
//
// A gradient is taken inside of the program: its operations are divided like all others.
//
// [Func.Explain] lists each collective with its bytes and the line of the program that caused it, on a mesh
// that need not exist ([Abstract]). [Explanation.Cost] predicts how long it takes on a [Machine].
//
// # Glossary
//
//   - whole: of a tensor of which each rank has all
//   - divided: of an axis of which each rank has some entries
//   - open sum: a tensor that is the sum of what the ranks have
//
// Stability: experimental.
package mesh
