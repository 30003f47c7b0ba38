// Package masked implements tensors with missing elements.
//
// A masked [*Tensor] consists of a tensor of values and a boolean mask that is true where
// a value is present. Elsewhere the values are filler that no result depends on.
// The mask has the shape of the values, or that of their outer dimensions, in which case
// whole rows are missing. The values may be any tensor, including ragged ones,
// because package ops does all work on them. An optional field of a struct is a masked
// tensor.
//
// # Semantics of operations
//
//   - elementwise: the result is missing if an operand is
//   - reductions skip missing elements. If none are left, sum, prod, any and
//     all give their identity, mean and variance NaN, and max, min, argmax and
//     argmin are missing
//   - cumulative operations and softmax skip missing elements and leave them
//     missing; matrix products treat them as zeros
//   - operations that move elements move the mask, too; zeros that they add are
//     present, and a written element is present if the new one is
//   - sort and top-k put missing elements last
//   - segment reductions, counts, norms and normalisation skip missing elements; a
//     missing segment id, or a missing index of a one-hot row, is ignored
//
// [And], [Or] and [Not] follow three-valued logic (S. C. Kleene, "Introduction to
// Metamathematics", 1952, §64): false and missing is false, true or missing is true.
//
// Stability: stable.
package masked
