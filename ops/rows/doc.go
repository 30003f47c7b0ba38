// Package rows holds operations on rows of different lengths, given as ordinary
// tensors: the values of all rows one behind the other, and row splits.
//
//	values   [3 1 4 1 5 9 2 6]
//	splits   [0 4 4 7 8]            row r is values[splits[r]:splits[r+1]]
//	rows     [[3 1 4 1] [] [5 9 2] [6]]
//
// They are what package ragged is made of. Users rarely call them; types of one's
// own that hold rows do. As values and splits are tensors like any other, also
// symbolic ones of unknown size, whatever is built from these operations is
// traced, differentiated and stored like the rest.
//
// # Conventions
//
// Row splits are int64 or int32, have one entry more than there are rows, start at
// 0, never fall and end at the number of values. Each kernel checks that, once for
// each tensor of splits: a partition that was checked before costs nothing. What
// describes a partition (splits, lengths, row ids, offsets) has the type of the
// splits; positions to gather by are int64.
//
// Values have any number of axes behind the first. Reductions and sorts treat each
// element of an item by itself.
//
// An empty row gives 0 for a sum, 1 for a product, true for All, false for Any, the
// type's lowest and highest value for Max and Min (infinite for floats), NaN for
// means and variances, -∞ for LogSumExp and -1 for ArgMax and ArgMin. NaN wins in
// Max, Min and their positions; sorting puts it last.
//
// Operations that select come in two forms: with the values, and as an index, the
// positions of the selected values, which serves several tensors that share one
// partition, and values of every kind, with ops.Gather.
//
// An argument nvals is the number of values, where it is known statically, and
// otherwise shape.Unknown.
//
// Stability: stable.
package rows
