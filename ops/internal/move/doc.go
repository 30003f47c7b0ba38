// Package move holds what operations need that move elements and do not look at
// them.
//
// Such kernels are written for dense tensors, most of them as views and one
// strided copy. Strings go the same way by their positions: what moves is a
// tensor of int64, and the strings are gathered by it ([Apply], [ApplyList]).
package move
