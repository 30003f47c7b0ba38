// Package rows provides operations on rows of different lengths, given as ordinary
// tensors: the concatenated values of all rows, and row splits.
//
//	values   [3 1 4 1 5 9 2 6]
//	splits   [0 4 4 7 8]            row r is values[splits[r]:splits[r+1]]
//	rows     [[3 1 4 1] [] [5 9 2] [6]]
//
// Package ragged is built on them. Users rarely call them, but user-defined types
// that contain rows do. Values and splits are ordinary tensors, possibly
// symbolic ones of unknown size, so code built from these operations is
// traced, differentiated and stored like any other.
//
// # Conventions
//
// Row splits are int64 or int32, have one more entry than there are rows, start at
// 0, never decrease and end at the number of values. Each kernel checks that, once for
// each tensor of splits: checking a partition again costs nothing. Tensors that
// describe a partition (splits, lengths, row ids, offsets) have the type of the
// splits; positions for gathers are int64.
//
// Values have any number of axes after the first. Reductions and sorts treat each
// element of an item independently.
//
// An empty row gives 0 for a sum, 1 for a product, true for All, false for Any, the
// type's lowest and highest value for Max and Min (infinite for floats), NaN for
// means and variances, -∞ for LogSumExp and -1 for ArgMax and ArgMin. NaN wins in
// Max, Min and their positions; sorting puts it last.
//
// Operations that select come in two forms: one returns the values, the other an index with the
// positions of the selected values. The index works for several tensors that share a
// partition, and for values of any type, with ops.Gather.
//
// An argument nvals is the number of values if it is known statically, and
// shape.Unknown otherwise.
//
// Stability: stable.
package rows
