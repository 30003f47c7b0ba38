// Package rows is the one place that knows what the rows of a Value are: it counts, takes,
// slices, gathers, stacks and joins them for every type, by its Spec. Packages ext, dataset
// and control do it this way and no other.
//
// # Ways
//
// A type has rows in one of three ways, which its Spec tells:
//
//   - by components, where the rows of a value are made of the rows of its components: a
//     [ByComponents], such as the Spec of a derived type, or a tenon.Batcher whose
//     components have the Specs that their own Batched gives. Components that all rows share
//     have to be equal in all that is stacked;
//   - boxed, where a tenon.Batcher is a tenon.Boxer: values are encoded as tensors, which
//     are stacked and taken apart, and decoded again. Most types of tensors box to
//     themselves;
//   - as a tensor: dense tensors, and types that answer for the operations on them.
//
// # Specs
//
// What is stacked or joined has to have a common Spec (tenon.Merge); static data that differ
// and optional components that only some have are errors that name them. The Spec of the
// result is Batched of the common one, where a component keeps a form of its own, such as
// ragged rows, if it has one.
package rows
