// Package ragged holds tensors whose rows have different lengths.
//
// A ragged [*Tensor] is a flat tensor of values and one [*RowPartition] for each
// dimension that is partitioned, outermost first. A partition says which values
// belong to which row:
//
//	values      [3 1 4 1 5 9 2 6]
//	row splits  [0 4 4 7 8]          row i is values[splits[i]:splits[i+1]]
//	rows        [[3 1 4 1] [] [5 9 2] [6]]
//
// # Making one
//
// [FromSlices] takes Go slices of slices, [Const] nested literals, and a [Builder]
// one row after the other. [FromRowSplits], [FromRowLengths], [FromRowStarts],
// [FromRowLimits], [FromValueRowIDs] and [FromUniformRowLength] divide values that are
// there, ragged ones included; [FromOffsets] does so without copying the memory of an
// Arrow list. [FromDense] and [FromSparse] convert; [Tensor.ToDense], [Tensor.ToSparse],
// [Slices] and [Tensor.Nested] lead back.
//
// # Working with it
//
// A ragged tensor answers for the operations of package ops: elementwise ones
// run on the flat values, reductions row by row, shape operations by moving
// splits. None of them goes through a padded copy. What it is made of may be
// symbolic, so ragged code is traced, differentiated and batched like any other.
//
//	x := ragged.FromSlices([][]float32{{3, 1}, nil, {5}})
//	ops.Add(x, 1.0)                    // [[4. 2.] [] [6.]]
//	ops.Sum(x, -1)                     // [4. 0. 5.]
//	ops.Index(x, 2)                    // [5.]
//	ops.Index(x, key.All, key.From(1)) // [[1.] [] []]
//
// # Broadcasting
//
// Dimensions are aligned at the end. One that is uniform with size 1, or missing in
// front, stretches to the rows it meets; all others have to have rows of the same
// lengths, whatever encodes them. A ragged dimension does not stretch, even if its
// rows happen to have length 1: what broadcasts is decided by Specs, not by data.
//
// [BroadcastRows] aligns dimensions at the outermost instead: one value for each row goes
// to all entries of the row.
//
// # Missing entries
//
// Where elements or whole rows may be missing, a value is a tensor of package masked over
// ragged values. [Mask], [PadMissing] and [Firsts] make such, [FillMissing], [DropMissing]
// and [Singletons] lead back; reductions, sorting, indexing and joining take them.
//
//	ragged.PadMissing(x, 2, 1, ragged.PadOptions{})    // [[3 1] [- -] [5 -]]
//
// # Rows of rows
//
// [Flatten] and [Unflatten] remove and add a dimension, [Num] and [LocalIndex] count in
// one. [Combinations] and [Cartesian] list the ways to take entries of a row, or of the rows
// of several tensors. All of this works on records too: see [Records].
//
// What TensorFlow and Awkward call the same things is in docs/ragged-names.md.
//
// # What is static
//
// The Spec of a ragged tensor tells what does not depend on the data of its splits:
// the number of rows, uniform row lengths, inner sizes. So a function that was traced
// for some rows serves other rows. Splits are int64, unless a tensor of int32 was
// given; where both meet they widen.
//
// Splits are checked where they enter, once, and everything derived from them (row
// ids, lengths, offsets) is kept with the splits themselves: it outlives taking a
// value apart and putting it together.
//
// # Glossary
//
//   - row splits: for n rows, n+1 rising offsets into the values, from 0 on
//   - row lengths, row starts, row limits: splits[i+1]-splits[i], splits[i], splits[i+1]
//   - row ids: for each value, the row it belongs to
//   - uniform: all rows have one declared length
//   - ragged rank: the number of partitions
//   - flat values: the tensor below all partitions; its first dimension is the
//     innermost partitioned one, further dimensions are inner dimensions
//   - [Shape]: all sizes of a tensor at run time, the lengths of ragged rows included
//
// Stability: stable.
package ragged
