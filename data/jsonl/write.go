package jsonl

import (
	"context"
	"io"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/input"
	"github.com/tenonml/tenon/internal/jsoncol"
)

// WriteOptions control writing. The zero value writes lines.
type WriteOptions struct {
	// Array writes one array of the rows instead of one line for each row.
	Array bool

	// OmitMissing omits missing fields from their objects; otherwise they are null.
	OmitMissing bool

	NonFinite NonFinite // policy for NaN and infinities
	Unicode   Unicode   // policy for strings that are not UTF-8

	// Context ends writing when it ends, with its cause as the error. Nil means no context.
	Context context.Context

	Workers int // number of goroutines that format; 0 means GOMAXPROCS
}

func (o WriteOptions) writing() jsoncol.WriteOptions {
	return jsoncol.WriteOptions{Array: o.Array, OmitMissing: o.OmitMissing, NonFinite: jsoncol.NonFinite(o.NonFinite), Unicode: jsoncol.Unicode(o.Unicode), Workers: o.Workers, Context: o.Context}
}

// column returns the rows of a value as a column.
func column(v tenon.Value) (c *jsoncol.Column, err error) {
	defer tenon.Catch(&err)
	return columnOf(rowsFirst(v), nil), nil
}

// Write writes the rows of records, or of any other Value, to w: one line for each row, or a single line for a
// scalar. A type defined elsewhere is written as an object of its components. The text is compact and deterministic:
// fields are in order, numbers have the shortest form that reads back the same, and only those characters are escaped
// that must be. Complex numbers are an error of kind tenon.ErrDType.
func Write(w io.Writer, v tenon.Value, o WriteOptions) error {
	c, err := column(v)
	if err == nil {
		err = jsoncol.Write(w, c, o.writing())
	}
	if err != nil {
		return failure("jsonl.Write", err)
	}
	return nil
}

// WriteFile is [Write] to a file, which is compressed if its name ends in .gz or .zst. An existing
// file is replaced only after everything has been written: if writing fails, as on a full disk, it
// is unchanged, and nothing is left next to it. A path that is not a regular file, such as a pipe,
// is written to directly.
func WriteFile(name string, v tenon.Value, o WriteOptions) error {
	c, err := column(v)
	if err == nil {
		err = input.WriteFile(name, func(w io.Writer) error { return jsoncol.Write(w, c, o.writing()) })
	}
	if err != nil {
		return failure("jsonl.WriteFile", err)
	}
	return nil
}
