// Package structured holds nested records as columns.
//
// A [*Tensor] is a list, or nested lists, of records with the same fields. Its
// rank is the number of dimensions that lists of records make: 0 for a single
// record. A field is any tensor, ragged or dense, or a structured tensor again, and
// starts with the dimensions of the records.
//
//	people := [{name: "Ada", pets: ["cat"]}, {name: "Bo", pets: []}]
//	rank 1, 2 rows; name is string[2], pets is ragged string[2, ?]
//
// # Columns
//
// Dimensions below the first are divided by row partitions, which all fields
// share: a field is kept as a column with one entry for each record, without them,
// and is given the partitions where it is asked for. So a change of the dimensions
// touches the partitions and no column, and the fields of a tensor cannot disagree.
//
// # Operations
//
// Operations of package ops that choose, join, repeat or move rows and dimensions
// (index, gather, concat, stack, expand_dims, boolean_mask, where, reverse, tile,
// split and their like) work on structured tensors. They run once, on the numbers
// of the records, and the columns follow that one index.
//
// [FromFields], [FromFieldsAndRank], [FromShape] and [FromNested] make tensors.
// [Tensor.WithUpdates] and [Tensor.Promote] change fields and share those that they
// do not touch.
package structured
