// Package jsonl reads JSON records into structured tensors, and writes them.
//
//	events, err := jsonl.ReadFile("events.jsonl", jsonl.Options{})
//	pt, err := events.Field("jets", "pt") // a ragged tensor; nothing is copied
//	err = jsonl.WriteFile("copy.jsonl", events, jsonl.WriteOptions{})
//
// A JSON list becomes a ragged dimension and an object a record. A field that may be
// missing becomes a tensor of package masked, if Options allow missing fields. Numbers without
// a fraction or exponent are int64, others float64, and a mixture is float64.
//
// # Reading
//
// A [Source] is text in memory, readers or files, optionally compressed with gzip or zstd.
// Records are lines, consecutive values, or the elements of one document
// ([Format]). Parsing uses all cores; the result does not depend on their number.
//
// Types are inferred from all of the data unless Options.Schema gives them, as a Spec of the
// records made by structured.NewSpec or [Infer]. Options.Paths selects the fields to read;
// other fields are only checked for syntax. [Batches] streams records as tensors with
// a fixed number of rows, for input that does not fit into memory.
//
// An object with data as keys, such as one with an entry for each file name, becomes a
// [structured.Map] if Options.Maps names its path, or if its keys in all records together number
// more than a thousand. Options.Raw keeps a value of any type as its JSON text,
// and Options.Exclude skips it.
//
// # Errors
//
// Reading is strict. Text that is not JSON as defined by RFC 8259, a missing field, a
// repeated key, and a number that does not fit are errors: an [*Error] with
// the source, line, column, byte, row and path. Options has a policy for each case that RFC
// 8259 leaves open. In lenient mode a bad line is dropped and reported, and nothing else is
// lost. It is still an error if more than half of the lines are bad. If types are inferred,
// the majority of the first lines decides which lines are bad.
//
// # Memory
//
// Reading needs at most about twice the size of the resulting columns. Skipped fields are
// not stored. A record is read as a whole, so its text is in memory together with its columns,
// once if the size of the input is known. A document that is an array therefore needs no
// more memory than its elements, and one huge record needs its text as well.
//
// Stability: stable.
package jsonl
