// Package parquetio reads Parquet files as structured tensors, and writes them.
//
//	events, err := parquetio.ReadFile("events.parquet", parquetio.ReadOptions{Columns: []string{"id", "jets.pt"}})
//	err = parquetio.WriteFile("copy.parquet", events, parquetio.WriteOptions{})
//
// Lists become ragged dimensions, groups become records, and an optional value with
// missing entries becomes a tensor of package masked, at any depth. The definition and
// repetition levels of a column are converted to row splits and masks eight at a time. Legacy lists
// and repeated fields without an annotation are lists, too; a map is a [structured.Map].
// Only the requested columns are read.
//
//	BOOLEAN, integers, FLOAT, DOUBLE, FLOAT16   tensors of the same element type
//	STRING, ENUM, JSON, BYTE_ARRAY               strings
//	FIXED_LEN_BYTE_ARRAY, UUID                   elements: fixed[n], uuid
//	DATE, TIME, TIMESTAMP, INT96                 elements, in the unit and zone of the column
//	DECIMAL                                      elements, with the column's precision and scale
//	INTERVAL                                     records of months, days and nanoseconds
//
// The elements mentioned in this table are those of package element.
//
// [File.Schema] has the type of each column with its unit. The row groups of one or several
// files are numbered like the elements of a dataset: see [Open] and [File.At]. Row groups and
// pages are skipped if their statistics show that no row satisfies ReadOptions.Where.
//
// Writing stores the Specs in the metadata, so every type is read back unchanged; the schema
// is one that other programs can read. This package decodes and encodes pages, levels and
// values itself; the metadata reader and the codecs are those of github.com/apache/arrow-go.
//
// Encrypted files (Parquet's modular encryption) are read and written with [Keys].
//
// # Safety
//
// The package does not trust its input: it checks offsets, lengths, counts and levels, and
// allocates no more memory than ReadOptions.MaxBytes. Errors, including panics of the library
// below, are [*tenon.Error]s with file, row group and column.
//
// Stability: stable.
package parquetio
