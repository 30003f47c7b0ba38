// Package segment computes on rows of different lengths that are stored one after the other in one slice.
//
// # Layout
//
// A partition into R rows is a slice of R+1 row splits: row r is values[splits[r]*inner :
// splits[r+1]*inner], where inner is the number of elements of one item (1 for a ragged vector, otherwise
// the product of the uniform dimensions after the ragged one). Splits are int64; a partition that users
// declared as int32 is widened once on the way in ([Widen]) and narrowed on the way out ([Narrow]).
//
// # What callers guarantee
//
// Splits start at 0, never decrease and end at len(values)/inner: [CheckSplits] verifies this at memory
// speed, and a caller checks once, where a partition enters the program. Outputs have the length that the
// function's comment states and do not overlap inputs, unless in-place use is mentioned. inner is at least
// 1. Indices and ids are checked here, because they are data.
//
// Outputs are always passed in. Where the size of a result depends on the data, a function whose name ends
// in Splits first computes the new row splits, and the function without the suffix then fills in the
// values:
//
//	total, err := segment.GatherSplits(newSplits, starts, splits, rows)
//	segment.Gather(out[:total*inner], values, newSplits, starts, inner)
//
// # Meaning
//
// Empty rows: sum 0, product 1, all true, any false, max and min the type's lowest and highest value
// (infinite for floats), mean and variance NaN, arg functions -1, logsumexp -∞. Max, min and arg functions
// propagate NaN, and sorting puts it last. Half-precision types are computed in float32 and rounded once.
// Sums of floats are pairwise, so that the rounding error of a long row grows with the logarithm of its
// length.
//
// # Speed
//
// Rows are distributed to workers in chunks with about equal numbers of values. The order of operations
// within a row depends only on the arguments, so results do not depend on the number of workers. (Softmax
// and logsumexp skip the shift by the largest value for a block of up to a few hundred rows if none of
// them needs it, so the last bit of a row may depend on the rows around it.)
//
// With AVX-512 or AVX2 these are vectorised: sum, product, max, min, argmax, argmin, mean, variance and
// count of nonzero values for float32, float64, int32 and int64 (without the int64 mean and variance on
// AVX2), and sum, product, max and min by position for the same types; count of nonzero values, any and
// all for bytes; softmax, log-softmax and logsumexp for float32 and float64; padding to at most 128 bytes
// and its inverse, extending short rows, gathering, slicing, joining, repeating and mask compaction for
// all fixed-size types; row ids, offsets, and the arithmetic and checks of splits; and, with AVX-512 only,
// sorting rows of up to 32 elements. Everything else is a plain loop, as are inputs of fewer than a few
// dozen values.
//
// Kernels may read whole vectors past the end of a row, but never past the capacity of a slice: rows too
// close to the end are left to the plain loops. Slices with spare capacity, such as package arena
// allocates, have few or no such rows. Results of 16 MiB or more are assembled in cache and written with
// non-temporal stores.
package segment
