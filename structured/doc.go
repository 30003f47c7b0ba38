// Package structured holds nested records as columns.
//
// A [*Tensor] is a list, or nested lists, of records with the same fields. Its
// rank is the number of dimensions that lists of records make: 0 for a single
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
// share: a field is kept as a column with one entry for each record, without them,
// and is given the partitions where it is asked for. So a change of the dimensions
// touches the partitions and no column, and the fields of a tensor cannot disagree.
//
// # Fields
//
// A field is a dense, ragged, sparse or named tensor, records again, or one of
//
//   - an optional value: a tensor of package masked, of whose records or elements
//     some are missing
//   - a [*Union], of elements of several types
//   - a [*Map], of maps from strings to values of one type, whose keys are data
//   - a [*Dictionary], of strings of which each is kept once
//   - a [*Held], for a Value of any other type, such as a registered Go struct
//
// # Making one
//
// [FromFields], [FromFieldsAndRank] and [FromShape] put tensors together;
// [FromNested] reads maps and lists, as they are or as a [Spec] says, and with a
// policy for what is missing; package gostruct reads Go structs.
// [Tensor.ToNested] leads back. [NewSpec] makes a Spec of a shape and
// the Specs of fields.
//
// # Operations
//
// Operations of package ops that choose, join, repeat or move rows and dimensions and
// look at no element, as their statement says, and pad, sort and unique, work on
// structured tensors. They run once, on the numbers of the records, and the columns
// follow that one index. [Tensor.Index] goes through names too. [ops.Equal] compares records. [Tensor.Sort] goes by fields.
//
// What chooses or orders records reads none of their fields: each is gathered when it
// is first asked for, and those that nobody asks for cost nothing. Until then they keep
// the tensor they come from; [Tensor.Compact] lets it go.
//
// [Tensor.WithUpdates] and [Tensor.Promote] change fields and share those that they
// do not touch.
//
// # Queries
//
// The methods of this section and those of a [Grouping] and a [Map] are for formulas:
// they throw their errors, as package ops does, and follow one another. All other
// functions return them.
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
//
// What is missing stays missing in all of them: a list as a record or a value. A join or
// a table that memory should not hold is an error that tells its size; see [JoinOptions]
// and [PivotOptions].
//
// Stability: stable.
package structured
