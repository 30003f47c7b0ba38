// Package structured stores nested records as columns.
//
// A [*Tensor] is a list, or nested lists, of records with the same fields. Its
// rank is the number of dimensions formed by lists of records: 0 for a single
// record. A field starts with the dimensions of the records:
//
//	people := [{name: "Ada", pets: ["cat"]}, {name: "Bo", pets: []}]
//
//	2 * {name: string, pets: var * string}
//	   name    pets
//	   string  var * string
//	0  "Ada"   ["cat"]
//	1  "Bo"    []
//
// # Columns
//
// Dimensions below the first are divided by row partitions, which all fields
// share. A field is stored as a column with one entry for each record, without the
// partitions, and gets them when it is read. Changing the dimensions therefore
// touches the partitions and no column, and the fields of a tensor cannot disagree.
//
// # Fields
//
// A field is a dense, ragged, sparse or named tensor, records again, or one of
//
//   - an optional value: a tensor of package masked, with some records or elements
//     missing
//   - a [*Union], of elements of several types
//   - a [*Map], of maps from strings to values of one type, for keys that are data
//   - a [*Dictionary], of strings, each stored once
//   - a [*Held], for a Value of any other type, such as a registered Go struct
//
// # Construction
//
// [FromFields], [FromFieldsAndRank] and [FromShape] combine tensors.
// [FromNested] converts maps and lists, with or without a [Spec], and with a
// policy for missing values. Package gostruct converts Go structs.
// [Tensor.ToNested] converts back. [NewSpec] makes a Spec from a shape and
// the Specs of fields.
//
// # Operations
//
// Structured tensors support the operations of package ops that, by their statement, select, join, repeat or move
// rows and dimensions without inspecting elements, and pad, sort and unique.
// Such an operation runs once, on the numbers of the records, and the columns
// follow that one index. [Tensor.Index] selects by field names, too. [ops.Equal] compares records. [Tensor.Sort] sorts by fields.
//
// Selecting or reordering records reads none of their fields: each field is gathered when it
// is first read, and fields that are never read cost nothing. Until then they keep
// the original tensor in memory; [Tensor.Compact] releases it.
//
// [Tensor.WithUpdates] and [Tensor.Promote] change fields and share the others.
//
// # Queries
//
// The methods of this section and those of a [Grouping] and a [Map] are for expressions:
// they throw their errors, as package ops does, and can be chained. All other
// functions return errors.
//
//	t.Filter("@.geo.lat > 0").Select("id", "orders.price").Flatten(DropEmpty, "orders")
//	t.GroupBy("cat").Sorted().Aggregate(Count(), Sum("amount"), Quantile("price", 0.5))
//
// [Tensor.Path] evaluates a subset of JSONPath with filters. [Tensor.Select],
// [Tensor.Drop], [Tensor.Rename], [Tensor.With], [Tensor.Apply], [Tensor.MapFields],
// [Tensor.Broadcast], [Zip] and [Tensor.Unzip] change fields; [Tensor.Where] and
// [Tensor.Filter] select records; [Tensor.Flatten] makes records of the elements of
// lists, and [Tensor.Unflatten] lists of records; [Tensor.GroupBy] provides aggregations,
// window functions and lists of groups; [Tensor.Join] joins by keys and [Tensor.Pivot]
// makes a table. All of them run in bulk over columns, also in graphs with unknown sizes,
// and have gradients with respect to floating-point columns.
//
// Missing values stay missing in all of them, whether records, lists or single values. A join or
// a table that would be too large for memory is an error with its size; see [JoinOptions]
// and [PivotOptions].
//
// Stability: stable.
package structured
