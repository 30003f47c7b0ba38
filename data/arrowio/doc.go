// Package arrowio exchanges Values with Apache Arrow: arrays, record batches and tables
// in memory, and IPC files (Feather 2) and streams.
//
//	people, err := arrowio.ReadFile("people.arrow", arrowio.ReadOptions{})
//	ages := people.(*structured.Tensor).At("age")
//	err = arrowio.WriteFile("copy.arrow", people, arrowio.WriteOptions{})
//
// # Type mapping
//
//	numbers, truth values [n]      primitive arrays; bfloat16 as uint16, complex numbers as pairs
//	numbers [n, k…]                arrow.fixed_shape_tensor
//	strings                        large_utf8, or large_binary where they are no UTF-8
//	strings, optional numbers [n, k…]  fixed_size_list, one for each axis
//	elements of package element    timestamp, date32, time, duration, decimal128, fixed_size_binary, arrow.uuid
//	ragged dimensions              large_list and list, for int64 and int32 splits
//	masked tensors                 validity bitmaps, at the depth of the mask
//	records                        struct, and at the top a record batch
//	structured.Dictionary          dictionary of int32 and large_utf8
//	structured.Union               sparse_union
//	structured.Map                 map
//	named tensors                  what is inside; dim_names in arrow.fixed_shape_tensor
//	                               and, with one ragged dimension, arrow.variable_shape_tensor
//	Values of other types          struct of their components: with a row for each of their
//	                               rows where the components have these, and else one row
//	scalars and single records     one row
//
// The metadata of the schema holds the Spec of each column and of the whole, under the
// key "tenon.spec", so every value is read back with its original type. A Value of a type
// that the program does not know is read as a [tenon.OpaqueValue], which can be
// written again without loss. If another program has changed columns so that the Spec
// no longer describes them, they are read by their Arrow type alone.
//
// Without a Spec, the table above applies in reverse. In addition:
//
//   - lists and large lists become ragged dimensions, and fixed-size lists become
//     axes of a dense tensor if their elements are dense
//   - of several entries of a map with the same key, the last one wins; a map with keys
//     that are records or lists becomes a list of records {key, value}
//   - timestamps, dates, times, durations, decimals of up to 38 digits and fixed-size
//     binary data are elements of package element, and date64 is read as dates
//   - binary data and views are strings, as are decimals of more digits, with the digits
//     of their scale
//   - intervals are records of months, days and smaller units
//   - run-end encoded arrays and list views are expanded
//   - a column with nulls is masked
//   - a repeated column name gets a suffix _1, _2, …
//
// # Memory
//
// [ReadFile] maps a file and copies the requested columns into memory of their
// own. [Open] returns the batches of files by number. They share the memory of the mapping
// until it is closed, and can be the elements of a dataset:
//
//	f, err := arrowio.Open("part-*.arrow", arrowio.ReadOptions{Columns: []string{"jets.pt"}})
//	batches := dataset.FromFunc(f.Len(), f.At)
//
// Numbers, offsets and the bytes of strings are shared with Arrow in both directions wherever
// the two layouts are the same; offsets that do not start at zero, booleans and 32-bit string
// offsets are copied. Tensors are immutable, and so are arrays that share memory
// with them. A tensor keeps the Go memory of an array alive. If the allocator of an array
// frees memory explicitly, set ReadOptions.Copy or retain the array.
//
// # Safety
//
// The package does not trust its input. It checks metadata before arrow-go reads it, and
// validates arrays before using their offsets. It allocates no more than the size of the
// input, times a factor if the input is compressed (ReadOptions.MaxBytes). Errors are
// [*tenon.Error]s that name the column.
//
// Stability: stable.
package arrowio
