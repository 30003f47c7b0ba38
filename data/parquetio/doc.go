// Package parquetio reads Parquet files as structured tensors, and writes them.
//
//	events, err := parquetio.ReadFile("events.parquet", parquetio.ReadOptions{Columns: []string{"id", "jets.pt"}})
//	err = parquetio.WriteFile("copy.parquet", events, parquetio.WriteOptions{})
//
// Lists become ragged dimensions, groups records, and what is optional a tensor of package
// masked where something is missing, at any depth: the definition and repetition levels of
// a column are turned into row splits and masks eight at a time. Legacy lists
// and fields that repeat without an annotation are lists too, a map is a [structured.Map]. Only the columns that are asked for are read.
//
//	BOOLEAN, integers, FLOAT, DOUBLE, FLOAT16   tensors of the same element type
//	STRING, ENUM, JSON, BYTE_ARRAY               strings
//	FIXED_LEN_BYTE_ARRAY, UUID                   elements: fixed[n], uuid
//	DATE, TIME, TIMESTAMP, INT96                 elements, in the unit and zone of the column
//	DECIMAL                                      elements, with the column's precision and scale
//	INTERVAL                                     records of months, days and nanoseconds
//
// Elements are those of package element.
//
// [File.Schema] has the type of each column with its unit. The row groups of one or several
// files are numbered, as the elements of a dataset are: [Open] and [File.At]. Row groups and pages
// whose statistics show that no row can meet ReadOptions.Where are left out.
//
// The Specs of what is written are in the metadata, so that every type comes back as what
// it was; the schema beside them is one that other programs read. Pages, levels and values are
// decoded and written here; the metadata that are read and the codecs are those of github.com/apache/arrow-go.
//
// Files that are encrypted are read and written with [Keys], as Parquet's modular encryption has them.
//
// # Safety
//
// Nothing that is read is trusted: offsets, lengths, counts and levels are checked, and no
// more memory is taken than ReadOptions.MaxBytes says. What is wrong is a [*tenon.Error]
// with file, row group and column; a panic of the library below is one too.
//
// Stability: stable.
package parquetio
