// Package jsoncol reads JSON records into columns and writes columns as JSON.
//
// Records that nest, such as
//
//	{"id":1,"jets":[{"pt":40.5},{"pt":22}]}
//	{"id":2,"jets":[]}
//
// become one flat buffer per path: id is a slice of int64; jets has row splits, 0 2 2; and jets.pt
// is a slice of float64 that holds the values of all jets. [Column] is the tree of these buffers,
// ready to be used by tensors without a copy.
//
//	t, err := jsoncol.ReadFile("events.jsonl", jsoncol.Options{})
//	pt := jsoncol.Values[float64](t.Column.Path("jets", "pt"))
//	err = jsoncol.Write(os.Stdout, t.Column, jsoncol.WriteOptions{})
//
// # Reading
//
// [Read] takes any number of inputs (memory, files, readers; gzip) as lines, as values that follow
// each other, or as one document; [Batches] gives the rows in tables of a fixed size. Anything that
// is not JSON as defined by RFC 8259 causes an [Error] with line, column, byte offset, row and path
// or, in lenient mode, a line that is skipped and reported. [Options] has a policy for each thing
// that RFC 8259 leaves open: missing values, duplicate keys, integers that are too large, invalid
// text, literals like NaN.
//
// A [Schema] describes the type of the records, in whole or in part. The rest is inferred from all
// of the data, not a sample. The types found so far serve as the schema until a record does not
// fit; they are then widened, what has been read is converted, and reading continues at that
// record. Integers and floats in one place become float64, and other mixtures are an error or a
// union. Columns are in the order in which their fields first appear. Neither the number of workers
// nor the size of chunks changes the result.
//
// # How it is fast
//
// The parser knows the schema and expects each key where it was before: a key is recognised by
// comparing two words of text, and the code for the type of its value follows directly. Numbers and
// the ends of strings are found eight bytes at a time in ordinary registers (SWAR); a float of up
// to 19 digits takes one exact division. Anything else takes a complete but slower path.
//
// Each worker takes a chunk of whole records, parses it into buffers of its own that stay in the
// cache, and, when the chunk's turn comes, reserves room for its rows at the end of the columns;
// copying them there, with offsets shifted, overlaps with the next chunk's turn. Columns are
// allocated once, at the size that the first chunk suggests for the whole, so that reading takes
// little more memory than the columns.
//
// Reading never takes more memory than some multiple of the size of the input: MaxDepth, MaxColumns
// and the TooSparse error ensure that.
//
// # Glossary
//
//   - chunk: a piece of input with whole records, which one worker parses
//   - node: a place in the schema with the rows that a parser has read for it
//   - sink: a column that grows; nodes are appended to it
//   - widening: changing the inferred schema so that it accepts a record
//   - turn: chunks are appended in the order of the input, each in its turn
//   - missing: null, or a field that a record does not have; both are the same
package jsoncol
