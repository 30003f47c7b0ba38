// Package rows defines what the rows of a Value are: it counts, takes, slices, gathers,
// stacks and joins them for every type, according to its Spec. Packages ext, dataset and
// control all use it.
//
// # Ways
//
// A type has rows in one of three ways, which its Spec determines:
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
// Values that are stacked or joined must have a common Spec (tenon.Merge); differing static
// data, and optional components that only some values have, are errors that name them. The
// Spec of the result is Batched of the common Spec, except that components keep special
// forms, such as ragged rows.
package rows
