// Package ragged implements tensors with rows of different lengths.
//
// A ragged [*Tensor] is a flat tensor of values and one [*RowPartition] for each
// partitioned dimension, outermost first. A partition says which values
// belong to which row:
//
//	values      [3 1 4 1 5 9 2 6]
//	row splits  [0 4 4 7 8]          row i is values[splits[i]:splits[i+1]]
//	rows        [[3 1 4 1] [] [5 9 2] [6]]
//
// # Construction
//
// [FromSlices] takes Go slices of slices, [Const] nested literals, and a [Builder]
// one row after another. [FromRowSplits], [FromRowLengths], [FromRowStarts],
// [FromRowLimits], [FromValueRowIDs] and [FromUniformRowLength] divide existing values,
// including ragged ones; [FromOffsets] does so without copying the memory of an
// Arrow list. [FromDense] and [FromSparse] convert; [Tensor.ToDense], [Tensor.ToSparse],
// [Slices] and [Tensor.Nested] convert back.
//
// # Operations
//
// A ragged tensor supports the operations of package ops. Elementwise ones
// run on the flat values, reductions row by row, and shape operations move
// splits. None of them makes a padded copy. The parts of a ragged tensor may be
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
// Dimensions are aligned at the end. A uniform dimension of size 1, or a missing one in
// front, stretches to match the other operand. All others must have rows of the same
// lengths, however they are encoded. A ragged dimension does not stretch, even if its
// rows happen to have length 1: broadcasting depends on Specs, not on data.
//
// [BroadcastRows] aligns dimensions at the outermost instead: one value for each row goes
// to all entries of the row.
//
// # Missing entries
//
// If elements or whole rows may be missing, the value is a tensor of package masked over
// ragged values. [Mask], [PadMissing] and [Firsts] return such tensors; [FillMissing], [DropMissing]
// and [Singletons] convert back. Reductions, sorting, indexing and joining accept them.
//
//	ragged.PadMissing(x, 2, 1, ragged.PadOptions{})    // [[3 1] [- -] [5 -]]
//
// # Rows of rows
//
// [Flatten] and [Unflatten] remove and add a dimension; [Num] and [LocalIndex] count within
// one. [Combinations] and [Cartesian] list the ways to choose entries of a row, or of the rows
// of several tensors. All of this works on records, too: see [Records].
//
// docs/ragged-names.md lists the corresponding names in TensorFlow and Awkward.
//
// # Static and dynamic parts
//
// The Spec of a ragged tensor contains what does not depend on the data of its splits:
// the number of rows, uniform row lengths, inner sizes. A function traced
// for some rows therefore serves other rows. Splits are int64, unless a tensor of int32 was
// given; if both meet, they widen.
//
// Splits are checked once, when a partition is made. Everything derived from them (row
// ids, lengths, offsets) is cached with the splits, and stays cached when a
// value is taken apart and put together again.
//
// # Glossary
//
//   - row splits: for n rows, n+1 increasing offsets into the values, starting at 0
//   - row lengths, row starts, row limits: splits[i+1]-splits[i], splits[i], splits[i+1]
//   - row ids: for each value, the row it belongs to
//   - uniform: all rows have one declared length
//   - ragged rank: the number of partitions
//   - flat values: the tensor below all partitions; its first dimension is the
//     innermost partitioned one, further dimensions are inner dimensions
//   - [Shape]: all sizes of a tensor at run time, including the lengths of ragged rows
//
// Stability: stable.
package ragged
