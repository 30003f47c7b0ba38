// Package csvio reads CSV, TSV and similar text tables as records, and writes them.
//
//	cars, err := csvio.ReadFile("cars.csv", csvio.Options{Missing: []string{"", "NA"}})
//	err = csvio.WriteFile("copy.csv.gz", cars, csvio.WriteOptions{})
//
// The type of a column is the first of int64, float64, bool, date, timestamp, timestamp with
// a zone and string that fits all its fields. Options.Types overrides it; it also accepts
// the types of package element, such as "decimal(10, 2)". Missing fields make a column
// masked. Dates and timestamps are elements of package element. A timestamp column uses
// the coarsest unit that holds all its values. Lists, records and maps are written in a
// field as JSON; the type [JSON] reads them.
//
// # Syntax
//
// Text is UTF-8, optionally compressed with gzip or zstd. A record ends with LF, CRLF or the
// end of the text. Quoted fields may contain delimiters and line breaks. Reading is strict:
// a record with a different number of fields, text after a closing quote, an unterminated
// quote, and a field that does not have the requested type are errors with an [*Error] as
// their cause, which has the line and column. Lenient reading drops the record, or treats
// the field as missing, and reports it.
//
// Stability: stable.
package csvio
