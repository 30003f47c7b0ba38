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
//	total, err := segment.GatherSplits(newSplits, splits, rows)
//	segment.Gather(out[:total*inner], values, newSplits, splits, rows, inner)
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
// Rows are shared out to workers in chunks of about equal numbers of values.
// Every row is computed by one fixed order of operations, so results do not
// depend on the number of workers. The float32 and float64 forms of the common
// reductions, softmax, padding, gathering and mask compaction are vectorised;
// they read whole vectors where the slice's capacity shows at least 64 bytes
// behind the last element that may be read, and fall back to shorter loads at
// the very end otherwise.
package segment
