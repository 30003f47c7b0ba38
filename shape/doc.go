// Package shape represents the sizes of a tensor's dimensions, as far as they are known.
//
// A [Shape] has a rank and a size for each axis. Either may be unknown: a size
// is [Unknown] if it depends on data, and the whole rank may be open
// ([UnknownRank]). Shapes are small values: up to four axes are stored inline.
//
// Shapes form a lattice. A shape is a subtype of another if every tensor with the first
// also has the second ([Shape.SubtypeOf]). [Join] returns the most specific
// shape above both, [Merge] the most general shape that satisfies both,
// and [Shape.CompatibleWith] reports whether there is one.
//
// [Broadcast] combines shapes as NumPy does
// (https://numpy.org/doc/stable/user/basics.broadcasting.html).
//
// Stability: stable.
package shape
