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

// Type says what the fields of a column are.
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

// Options say how to read. The zero value reads comma-separated text with a header and
// finds the types.
type Options struct {
	Delim    byte // between fields; 0: a comma
	Quote    byte // around fields; 0: "
	NoQuotes bool // quotes are text
	Comment  byte // at the start of a line that is no record; 0: none
	NoHeader bool // the first record is no header: columns are column0, column1, …

	// Missing are the texts of fields that are missing. Nil: the empty text.
	Missing []string

	// Types gives columns their type: one of those above, or one of package element, such as "decimal(10, 2)",
	// "duration[ms]" or "timestamp[us, Europe/Berlin]". Others are found in all of the fields.
	Types map[string]Type

	// Nested says how columns of type JSON are read: as the fields of records that JSON lines hold. Its Maps, Schema, Paths and
	// Defaults name columns, and what is in them: {Maps: []string{"headers"}} makes a [structured.Map] of the objects in column
	// headers. What is missing is masked where neither Missing nor Schema says otherwise. Types are found in each batch anew
	// where there is no Schema. Format, Lenient, MaxSkipped, Report and Context are those of the table.
	Nested jsonl.Options

	// Columns are the columns to read, in this order. Nil: all.
	Columns []string

	// Lenient leaves out records with another number of fields, or with text behind a closing
	// quote, and takes fields that are not of their type for missing. A quote that does not
	// end is an error: nothing tells where it should. Report tells which.
	Lenient bool

	// MaxSkipped is the share of records that lenient reading may leave out, or take fields of for missing; more is an
	// error. 0: a half, as of JSON lines; 1: all of them.
	MaxSkipped float64

	// Report, if not nil, is set to what has been read.
	Report *Report

	// Context ends reading when it ends, with its cause as the error. Nil: nothing does.
	Context context.Context
}

// A Report tells what has been read.
type Report struct {
	Columns []Column
	Rows    int64
	Skipped []*Error // what lenient reading has left out, by line
}

// A Column is a column of a table.
type Column struct {
	Name string
	Type Type
	Unit time.Duration // of timestamps: what 1 stands for
}

// What says what an [Error] is about.
type What string

// The faults.
const (
	Fields       What = "fields"       // another number of fields than the first record has
	Quoting      What = "quote"        // text behind a closing quote
	Unterminated What = "unterminated" // a quote that does not end
	BadType      What = "type"         // a field that is not of the type that was asked for
	BadText      What = "utf8"         // no UTF-8
)

// An Error is a fault in the text and where it is. It is of kind tenon.ErrInvalid.
type Error struct {
	What   What
	Source string // the name of the file or reader
	Line   int64  // from 1
	Field  int    // the number of the field in its record, from 1; 0 where it is about no field
	Column string // the name of the column of the field, "" where there is none
	Detail string
}

// Error returns the place and what is wrong there, in one line.
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

// A Source is text to read: one piece or several, each a table with the same columns.
type Source struct {
	inputs []input.Input
	err    error
}

// Bytes returns the text b, which must not change.
func Bytes(b []byte) Source { return Source{inputs: []input.Input{input.Bytes(b)}} }

// Reader returns the text that r gives, once. The name is for errors.
func Reader(name string, r io.Reader) Source {
	return Source{inputs: []input.Input{input.Reader(name, r)}}
}

// Files returns the text in files, one behind the other, each with a header of its own.
func Files(names ...string) Source {
	var s Source
	for _, name := range names {
		s.inputs = append(s.inputs, input.File(name))
	}
	return s
}

// Glob returns the text in the files whose names match one of some patterns, as
// filepath.Match has them, in the order of their names.
func Glob(patterns ...string) Source {
	names, err := input.Glob(patterns...)
	s := Files(names...)
	s.err = err
	return s
}

func fail(kind error, fn, where, format string, args ...any) *tenon.Error {
	return &tenon.Error{Kind: kind, Op: fn, Where: where, Msg: fmt.Sprintf(format, args...), Line: source.Line()}
}
