package jsonl

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/jsoncol"
	"github.com/tenonml/tenon/tensor"
)

// WriteOptions say how to write. The zero value writes lines.
type WriteOptions struct {
	// Array writes one array of the rows in place of a line for each.
	Array bool

	// OmitMissing leaves missing fields out of their objects; otherwise they are null.
	OmitMissing bool

	NonFinite NonFinite // NaN and the infinities
	Unicode   Unicode   // strings that are no UTF-8

	Workers int // goroutines that format; 0: as many as run at once
}

func (o WriteOptions) writing() jsoncol.WriteOptions {
	return jsoncol.WriteOptions{Array: o.Array, OmitMissing: o.OmitMissing, NonFinite: jsoncol.NonFinite(o.NonFinite), Unicode: jsoncol.Unicode(o.Unicode), Workers: o.Workers}
}

// column returns the rows of a value as a column.
func column(v tensor.Tensor) (c *jsoncol.Column, err error) {
	defer tenon.Catch(&err)
	return columnOf(rowsFirst(v), nil), nil
}

// Write writes the rows of records, or of any other tensor, to w: a line for each, or
// one for a single record. The text is compact and the same for the same values: fields
// in their order, numbers as short as reads back the same, only such characters escaped
// as have to be. Complex numbers are an error of kind tenon.ErrDType.
func Write(w io.Writer, v tensor.Tensor, o WriteOptions) error {
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
// that is there is written over.
func WriteFile(name string, v tensor.Tensor, o WriteOptions) error {
	c, err := column(v)
	if err == nil {
		switch {
		case strings.HasSuffix(name, ".gz"), strings.HasSuffix(name, ".zst"):
			err = writeCompressed(name, c, o)
		default:
			err = jsoncol.WriteFile(name, c, o.writing())
		}
	}
	if err != nil {
		return failure("jsonl.WriteFile", err)
	}
	return nil
}

func writeCompressed(name string, c *jsoncol.Column, o WriteOptions) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(f, 1<<18)
	var z io.WriteCloser = gzip.NewWriter(b)
	if strings.HasSuffix(name, ".zst") {
		if z, err = zstd.NewWriter(b); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	err = jsoncol.Write(z, c, o.writing())
	return errors.Join(err, z.Close(), b.Flush(), f.Close())
}
