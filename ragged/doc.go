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
// A ragged tensor answers for the operations of package ops: elementwise ones
// run on the flat values, reductions row by row, shape operations by moving
// splits. None of them goes through a padded copy. What it is made of may be
// symbolic, so ragged code is traced and differentiated like any other.
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
package ragged
