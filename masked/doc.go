// Package masked holds tensors some of whose elements may be missing.
//
// A masked [*Tensor] is a tensor of values and a boolean mask that is true where
// there is a value; elsewhere the values are filler that no result depends on.
// The mask has the shape of the values, or that of their outer dimensions: then
// what is missing is whole rows. The values may be any tensor, ragged ones
// included, since all work on them goes through package ops. An optional field of
// a struct is a masked tensor.
//
// # What operations do
//
//   - elementwise: the result is missing where an operand is
//   - reductions skip what is missing. Where nothing is left, sum, prod, any and
//     all give their identity, mean and variance NaN, and max, min, argmax and
//     argmin are missing
//   - cumulative operations and softmax run over what is there and leave gaps
//     where they are; matrix products take missing elements as zeros
//   - operations that move elements move the mask with them; zeros that they add are
//     there, and an element that is written is there if the new one is
//   - sort and top-k put missing elements last
//   - reductions over segments, counts, norms, and normalisation skip what is missing;
//     a segment id, or an index of a one-hot row, that is missing has no place
//
// [And], [Or] and [Not] follow three-valued logic (S. C. Kleene, "Introduction to
// Metamathematics", 1952, §64): false and missing is false, true or missing is true.
//
// Stability: stable.
package masked
