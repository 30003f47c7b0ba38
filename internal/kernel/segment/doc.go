// Package segment computes on rows of different lengths that lie one behind the
// other in one slice.
//
// # Layout
//
// A partition into R rows is a slice of R+1 row splits: row r is
// values[splits[r]*inner : splits[r+1]*inner], where inner is the number of
// elements of one item (1 for a ragged vector, the product of the uniform
// dimensions behind the ragged one otherwise). Splits are int64; a partition that
// users declared as int32 is widened once where it enters ([Widen]) and narrowed
// where it leaves ([Narrow]).
//
// # What callers guarantee
//
// Splits start at 0, never decrease and end at len(values)/inner: [CheckSplits]
// says so at the speed of memory, and a caller checks once, where a partition
// enters the program. Outputs have the length the function's comment names and
// do not overlap inputs, except where in-place use is mentioned. inner is at
// least 1. Indices and ids are checked here, because they are data.
//
// Outputs are always passed in. Where a result's size depends on data, a
// function ending in Splits computes the new row splits first, and the function
// without that ending then fills the values:
//
//	total, err := segment.GatherSplits(newSplits, starts, splits, rows)
//	segment.Gather(out[:total*inner], values, newSplits, starts, inner)
//
// # Meaning
//
// Empty rows: sum 0, product 1, all true, any false, max and min the type's
// lowest and highest value (infinite for floats), mean and variance NaN, arg
// functions -1, logsumexp -∞. Max, min and arg functions propagate NaN, sorting
// puts it last. Half-precision types are computed in float32 and rounded once.
// Sums of floats are split in the middle (pairwise), so that the rounding error
// of a long row grows with the logarithm of its length.
//
// # Speed
//
// Rows are shared out to workers in chunks of about equal numbers of values. Every row
// is computed by an order of operations that depends on the arguments only, so results
// do not depend on the number of workers. (Softmax and logsumexp leave out the shift by
// the largest value where a block of some hundred rows shows that none is needed, so
// the last bit of a row may depend on the rows around it.)
//
// With AVX-512 or AVX2 these are vectorised: sum, product, max, min, argmax, argmin, mean,
// variance and the number of values that are not zero of float32, float64, int32 and int64 (with
// AVX2 not the moments of int64), and their sums, products, max and min position by position; the same
// number, any and all of bytes; softmax, log-softmax and
// logsumexp of float32 and float64; padding to at most 128 bytes and its reverse,
// filling up, gathering, slicing, joining, repeating and mask compaction of all fixed-size types; row ids,
// offsets and the arithmetic and checks of splits; with AVX-512 also sorting rows of up
// to 32 float32 or int32. The rest are plain loops. Fewer than some dozens of values
// stay with plain loops too.
//
// Kernels read whole vectors beyond the end of a row, but never beyond the capacity of
// a slice: rows for which that would not do are computed by the plain loops. Slices
// with slack behind their elements, such as package arena makes, have none of those, or
// few. Results of 16 MiB and more are put together in cache and written past it.
package segment
