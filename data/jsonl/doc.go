// Package jsonl reads JSON records into structured tensors, and writes them back.
//
//	events, err := jsonl.ReadFile("events.jsonl", jsonl.Options{})
//	pt, err := events.Field("jets", "pt") // a ragged tensor; nothing is copied
//	err = jsonl.WriteFile("copy.jsonl", events, jsonl.WriteOptions{})
//
// A list in JSON becomes a ragged dimension, an object a record, and a field that may be
// missing, where that is allowed, a tensor of package masked. Numbers without fraction
// or exponent are int64, others float64, a mixture of both float64.
//
// # Reading
//
// A [Source] is text in memory, readers or files, compressed with gzip or zstd or not.
// Records are lines, values that follow each other, or the elements of one document
// ([Format]). All the cores parse, and the result does not depend on how many they are.
//
// Types are found in all of the data, unless Options.Schema gives them: the Spec of the
// records, as structured.NewSpec or [Infer] make it. Options.Paths prunes what is read:
// the rest is checked for syntax and skipped. [Batches] streams records in tensors of
// a fixed number of rows, for input that does not fit into memory.
//
// An object whose keys are data, such as one with an entry for each file name, becomes a
// [structured.Map] where Options.Maps names its path, or where all records together have
// more than a thousand keys there. Options.Raw keeps a value of any kind as its JSON text,
// and Options.Exclude skips it.
//
// # Faults
//
// Reading is strict. What is not JSON as RFC 8259 defines it, a field that a record
// lacks, a key that occurs twice and a number that does not fit are an [*Error] with
// the source, line, column, byte, row and path. Options has a policy for each thing that RFC
// 8259 leaves open. In lenient mode a bad line is left out and reported; nothing else
// is lost. More than half of the lines in error are an error, and where types are found in
// the data those of most of the first lines decide which are.
//
// # Memory
//
// Columns are the only large thing that reading keeps: it takes at most about twice
// their size, and what is read but not a column is not kept. A record is read as a whole: its
// text is there beside its columns, once, where the size of the input is known. So a document
// that is an array takes no more than its elements, and one huge record its text as well.
//
// Stability: stable.
package jsonl
