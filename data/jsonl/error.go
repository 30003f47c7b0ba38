package jsonl

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/jsoncol"
	"github.com/tenonml/tenon/internal/source"
)

// Code is the kind of an [Error].
type Code uint8

// The codes, each with an example.
const (
	Syntax       = Code(jsoncol.Syntax)       // not JSON as defined by RFC 8259: {"a":}
	TypeMismatch = Code(jsoncol.TypeMismatch) // a value of a different type: "x" where the other records have numbers
	MissingValue = Code(jsoncol.MissingValue) // null, or a record that lacks the field
	DuplicateKey = Code(jsoncol.DuplicateKey) // {"a":1,"a":2}
	UnknownKey   = Code(jsoncol.UnknownKey)   // a key that the schema lacks
	OutOfRange   = Code(jsoncol.OutOfRange)   // a number that the element type cannot hold: 300 for an int8
	TooDeep      = Code(jsoncol.TooDeep)      // nested deeper than MaxDepth
	BadText      = Code(jsoncol.BadText)      // invalid UTF-8, or half a surrogate pair
	TooSparse    = Code(jsoncol.TooSparse)    // inferred fields that nearly every record lacks
	TooWide      = Code(jsoncol.TooWide)      // more inferred columns than MaxColumns
)

// An Error is a fault in the text, with its position. It is of kind tenon.ErrInvalid.
type Error struct {
	Code   Code
	Source string // name of the file or reader
	Offset int64  // bytes before the fault, after decompression
	Line   int64  // from 1
	Column int64  // from 1, in bytes
	Row    int64  // number of the record, from 0
	Path   string // fields and list positions from the record down: orders[1].qty
	Detail string // what is wrong
}

// Error returns the position, the path and the fault on one line.
func (e *Error) Error() string {
	c := jsoncol.Error{Code: jsoncol.Code(e.Code), Source: e.Source, Offset: e.Offset, Line: e.Line, Column: e.Column, Row: e.Row, Path: e.Path, Detail: e.Detail}
	return c.Error()
}

// Unwrap returns tenon.ErrInvalid.
func (e *Error) Unwrap() error { return tenon.ErrInvalid }

func faultOf(e *jsoncol.Error) *Error {
	return &Error{Code: Code(e.Code), Source: e.Source, Offset: e.Offset, Line: e.Line, Column: e.Column, Row: e.Row, Path: e.Path, Detail: e.Detail}
}

// failure converts an error of package jsoncol to an error of this package.
func failure(op string, err error) error {
	var e *jsoncol.Error
	if errors.As(err, &e) {
		return faultOf(e)
	}
	var t *tenon.Error
	if errors.As(err, &t) {
		return err
	}
	return &tenon.Error{Kind: tenon.ErrInvalid, Op: op, Err: err, Line: source.Line()}
}

func invalid(op, where, format string, args ...any) error {
	return &tenon.Error{Kind: tenon.ErrInvalid, Op: op, Where: where, Msg: fmt.Sprintf(format, args...), Line: source.Line()}
}

var (
	errEmptyName  = errors.New("a name in the path is empty")
	errAfterQuote = errors.New("a quoted name must be followed by a dot")
)

// unquoted reads the quoted name at the start of text and returns the rest.
func unquoted(text string) (name, rest string, err error) {
	q, err := strconv.QuotedPrefix(text)
	if err != nil {
		return "", "", errors.New("a quoted name is not terminated")
	}
	name, err = strconv.Unquote(q)
	return name, text[len(q):], err
}
