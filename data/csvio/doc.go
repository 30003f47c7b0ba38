// Package csvio reads tables of text, CSV and TSV, as records, and writes them.
//
//	cars, err := csvio.ReadFile("cars.csv", csvio.Options{Missing: []string{"", "NA"}})
//	err = csvio.WriteFile("copy.csv.gz", cars, csvio.WriteOptions{})
//
// A column is of the first of these types that all its fields have: int64, float64, bool,
// date, timestamp, timestamp with a zone, string; Options.Types gives it, and knows the types of
// package element besides, such as "decimal(10, 2)". Fields that are missing make it masked. Dates and timestamps
// are elements of package element, timestamps in the coarsest unit that holds all of the column. Lists, records and maps stand in
// a field as JSON, which the type [JSON] reads.
//
// # The text
//
// Text is UTF-8, compressed with gzip or zstd or not. A record ends with LF, CRLF or the
// text; fields may be quoted, and have delimiters and line breaks then. Reading is strict:
// a record with another number of fields, text behind a closing quote, a quote that does
// not end and a field that is not of the type that was asked for are errors whose cause is
// an [*Error] with line and column. Lenient reading leaves out the record, or takes the field for missing, and
// reports it.
//
// Stability: stable.
package csvio
