package jsonl

import (
	"context"
	"io"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/input"
	"github.com/tenonml/tenon/internal/jsoncol"
)

// WriteOptions say how to write. The zero value writes lines.
type WriteOptions struct {
	// Array writes one array of the rows in place of a line for each.
	Array bool

	// OmitMissing leaves missing fields out of their objects; otherwise they are null.
	OmitMissing bool

	NonFinite NonFinite // NaN and the infinities
	Unicode   Unicode   // strings that are no UTF-8

	// Context ends writing when it ends, with its cause as the error. Nil: nothing does.
	Context context.Context

	Workers int // goroutines that format; 0: as many as run at once
}

func (o WriteOptions) writing() jsoncol.WriteOptions {
	return jsoncol.WriteOptions{Array: o.Array, OmitMissing: o.OmitMissing, NonFinite: jsoncol.NonFinite(o.NonFinite), Unicode: jsoncol.Unicode(o.Unicode), Workers: o.Workers, Context: o.Context}
}

// column returns the rows of a value as a column.
func column(v tenon.Value) (c *jsoncol.Column, err error) {
	defer tenon.Catch(&err)
	return columnOf(rowsFirst(v), nil), nil
}

// Write writes the rows of records, or of any other Value, to w: a line for each, or
// one for a single one. A type from outside is an object of its components. The text is compact and the same for the same values: fields
// in their order, numbers as short as reads back the same, only such characters escaped
// as have to be. Complex numbers are an error of kind tenon.ErrDType.
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

// WriteFile is [Write] to a file, compressed where its name ends in .gz or .zst. A file
// that is there is replaced in the end, when all has been written: where writing fails,
// as on a full disk, it stays as it was, and nothing is left beside it. What is no file,
// such as a pipe, is written to as it is.
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
