package csvio

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/internal/input"
	"github.com/tenonml/tenon/internal/source"
)

// Type is the type of the fields of a column.
type Type string

// The types.
const (
	Int64       Type = "int64"       // 12, -3, +007
	Float64     Type = "float64"     // 1.5, 1e3, .5, nan, -inf
	Bool        Type = "bool"        // true, FALSE
	Date        Type = "date"        // 2024-02-29
	Timestamp   Type = "timestamp"   // 2024-02-29 10:11:12.5, also with T, and dates as midnight
	TimestampTZ Type = "timestamptz" // with Z or ±hh:mm; in UTC
	String      Type = "string"
	JSON        Type = "json" // lists, objects, maps, as Options.Nested says; not found, but given
)

// order is the order in which types are tried.
var order = []Type{Int64, Float64, Bool, Date, Timestamp, TimestampTZ}

// Options control reading. The zero value reads comma-separated text with a header and infers the
// types.
type Options struct {
	Delim    byte // delimiter; 0 means a comma
	Quote    byte // quote character; 0 means "
	NoQuotes bool // quotes are ordinary text
	Comment  byte // first character of comment lines; 0 means none
	NoHeader bool // there is no header: columns are named column0, column1, …

	// Missing are the texts that mean a missing field. Nil means the empty text.
	Missing []string

	// Types gives the types of columns: one of the constants above, or one of package element, such as
	// "decimal(10, 2)", "duration[ms]" or "timestamp[us, Europe/Berlin]". The types of all other columns are
	// inferred from all of their fields.
	Types map[string]Type

	// Nested controls how columns of type JSON are read: as the fields of records in JSON lines. Its Maps, Schema,
	// Paths and Defaults refer to columns by name and to what they contain: {Maps: []string{"headers"}} makes a
	// [structured.Map] of the objects in column headers. Missing values are masked unless Missing or Schema say
	// otherwise. Without a Schema, types are inferred separately for each batch. Format, Lenient, MaxSkipped, Report
	// and Context are ignored in favour of those of the table.
	Nested jsonl.Options

	// Columns are the columns to read, in this order. Nil means all.
	Columns []string

	// Lenient skips records with a wrong number of fields, or with text after a closing
	// quote, and treats fields that do not have the type of their column as missing. Report
	// lists both. An unterminated quote is still an error, because it is unknown where it
	// should end.
	Lenient bool

	// MaxSkipped is the maximum share of records that lenient reading may skip or in which it may treat fields as
	// missing; more is an error. 0 means one half, as for JSON lines; 1 means no limit.
	MaxSkipped float64

	// Report, if not nil, is set to a report of what was read.
	Report *Report

	// Context ends reading when it ends, with its cause as the error. Nil means no context.
	Context context.Context
}

// A Report describes what was read.
type Report struct {
	Columns []Column
	Rows    int64
	Skipped []*Error // faults that lenient reading has passed over, by line
}

// A Column describes a column of a table.
type Column struct {
	Name string
	Type Type
	Unit time.Duration // unit of timestamps
}

// What is the kind of an [Error].
type What string

// The faults.
const (
	Fields       What = "fields"       // another number of fields than the first record has
	Quoting      What = "quote"        // text behind a closing quote
	Unterminated What = "unterminated" // a quote that does not end
	BadType      What = "type"         // a field that is not of the type that was asked for
	BadText      What = "utf8"         // no UTF-8
)

// An Error is a fault in the text, with its position. It is of kind tenon.ErrInvalid.
type Error struct {
	What   What
	Source string // name of the file or reader
	Line   int64  // from 1
	Field  int    // number of the field in its record, from 1; 0 if it is not about a field
	Column string // name of the column of the field, or ""
	Detail string
}

// Error returns the position and the fault on one line.
func (e *Error) Error() string {
	name := e.Source
	if name == "" {
		name = "csv"
	}
	at := fmt.Sprintf("%s:%d: ", name, e.Line)
	switch {
	case e.Column != "":
		at += fmt.Sprintf("column %q: ", e.Column)
	case e.Field > 0:
		at += fmt.Sprintf("field %d: ", e.Field)
	}
	return at + e.Detail
}

// Unwrap returns tenon.ErrInvalid.
func (e *Error) Unwrap() error { return tenon.ErrInvalid }

// A Source is text to read, in one or several pieces, each of which is a table with the same
// columns.
type Source struct {
	inputs []input.Input
	err    error
}

// Bytes returns a source of the text b, which must not change.
func Bytes(b []byte) Source { return Source{inputs: []input.Input{input.Bytes(b)}} }

// Reader returns a source of the text from r, which can be read only once. The name is used in
// errors.
func Reader(name string, r io.Reader) Source {
	return Source{inputs: []input.Input{input.Reader(name, r)}}
}

// Files returns a source of the text in files, one after the other, each with its own header.
func Files(names ...string) Source {
	var s Source
	for _, name := range names {
		s.inputs = append(s.inputs, input.File(name))
	}
	return s
}

// Glob returns a source of the text in the files whose names match any of the patterns, in the form
// of filepath.Match, sorted by name.
func Glob(patterns ...string) Source {
	names, err := input.Glob(patterns...)
	s := Files(names...)
	s.err = err
	return s
}

func fail(kind error, fn, where, format string, args ...any) *tenon.Error {
	return &tenon.Error{Kind: kind, Op: fn, Where: where, Msg: fmt.Sprintf(format, args...), Line: source.Line()}
}
