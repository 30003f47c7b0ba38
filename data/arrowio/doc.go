// Package arrowio exchanges Values with Apache Arrow: arrays, record batches and tables
// in memory, and IPC files (Feather 2) and streams.
//
//	people, err := arrowio.ReadFile("people.arrow", arrowio.ReadOptions{})
//	ages := people.(*structured.Tensor).At("age")
//	err = arrowio.WriteFile("copy.arrow", people, arrowio.WriteOptions{})
//
// # What becomes what
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
// The Spec of each column and of the whole is in the metadata of the schema, under the
// key "tenon.spec", so that everything comes back as what it was. A Value of a type
// that this program does not know comes back as a [tenon.OpaqueValue], which can be
// written again without loss. Columns that another program has changed, so that the Spec
// no longer describes them, are read by their Arrow type alone.
//
// Read by its Arrow type, an array is what the table above says, the other way round. Lists,
// also large ones, become ragged dimensions; of several entries of a map with one key the last counts, and maps whose keys
// are records or lists are lists of records {key, value}; lists of a fixed size axes of a dense
// tensor where it is one inside; timestamps, dates, times, durations, decimals of up to 38 digits and binary
// data of a fixed size are elements of package element, date64 as dates; binary data and
// views strings; decimals of more digits strings with the digits of their scale;
// intervals records of months, days and smaller units; run-end encoded arrays and views of
// lists what they stand for. A null in a column makes it masked. A name that was there before
// gets _1, _2, ….
//
// # Memory
//
// [ReadFile] maps a file and reads the columns that it is asked for, into memory of their
// own. [Open] gives the batches of files by number, which share the memory of the mapping
// until it is closed: as the elements of a dataset,
//
//	f, err := arrowio.Open("part-*.arrow", arrowio.ReadOptions{Columns: []string{"jets.pt"}})
//	batches := dataset.FromFunc(f.Len(), f.At)
//
// Numbers, offsets and the bytes of strings are shared with Arrow both ways wherever the
// two layouts are the same: an offset that is not zero, booleans and 32-bit string
// offsets need a copy. Tensors are immutable, and so are arrays that share memory
// with them. A tensor keeps Go memory of an array alive by itself; where an array's allocator
// frees memory explicitly, ReadOptions.Copy has to be set or the array kept.
//
// # Safety
//
// Nothing that is read is trusted. Metadata are checked before arrow-go reads them,
// arrays are validated before their offsets are used, and no more memory is taken than
// the input has bytes, times a factor where it is compressed (ReadOptions.MaxBytes). What is
// wrong is a [*tenon.Error] that names the column.
//
// Stability: stable.
package arrowio
