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
//
// # Queries
//
// Methods that take paths as text are for formulas: they throw their errors, as
// package ops does, and follow one another.
//
//	t.Filter("@.geo.lat > 0").Select("id", "orders.price").Flatten(DropEmpty, "orders")
//	t.GroupBy("cat").Sorted().Aggregate(Count(), Sum("amount"), Quantile("price", 0.5))
//
// [Tensor.Path] evaluates a subset of JSONPath with filters. [Tensor.Select],
// [Tensor.Drop], [Tensor.Rename], [Tensor.With], [Tensor.Apply], [Tensor.MapFields],
// [Tensor.Broadcast], [Zip] and [Tensor.Unzip] change fields; [Tensor.Where] and
// [Tensor.Filter] choose records; [Tensor.Flatten] makes records of the elements of
// lists, and [Tensor.Unflatten] lists of records; [Tensor.GroupBy] gives aggregations,
// window functions and lists of groups; [Tensor.Join] joins by keys and [Tensor.Pivot]
// makes a table. All of them run in bulk over columns, in graphs of unknown sizes too,
// and give gradients to floating columns.
package structured
