// Package move contains what is shared by operations that move elements without
// looking at them.
//
// Such kernels are written for dense tensors, most of them as views followed by
// one strided copy. Strings are moved by position: a tensor of int64 positions is
// moved, and the strings are gathered by it ([Apply], [ApplyList]).
package move
