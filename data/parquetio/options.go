package parquetio

import (
	"context"
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/source"
)

// ReadOptions control how files are read. The zero value reads everything, with its original type.
type ReadOptions struct {
	// Columns are the columns to read, in this order: names, or paths of fields in the form of
	// structured.PathString (jets.pt), through lists. Nil means all.
	Columns []string

	// Where are conditions, all of which a row has to meet. Row groups whose statistics show that none of
	// their rows does are skipped, and so are pages whose bounds in the page index show it. All remaining
	// rows are read, including those that do not meet the conditions.
	Where []Range

	// Plain ignores the Specs in the metadata.
	Plain bool

	// Keys decrypt an encrypted file. Reading a column without a key is an error. A file that is not encrypted is an
	// error as well, so that nobody can substitute one for an encrypted file.
	Keys *Keys

	// MaxBytes limits the memory that is allocated for a row group. 0 means 64 MiB plus 1024 times
	// the size of the file.
	MaxBytes int64

	// Context ends reading when it ends, with its cause as the error. Nil means no context.
	Context context.Context
}

// A Range requires the values of a column to lie between Min and Max, inclusive. For a column in
// lists, it requires at least one value in the range.
type Range struct {
	Column string // name or path

	// Min and Max are numbers, strings or bools. For dates and timestamps they are a time.Time, and for times of day
	// a time.Duration. For these, for decimals and for fixed-size binary data they may also be strings in the form of
	// element.Parse. A number for a time is the stored number. Nil means no bound.
	Min, Max any
}

// Compression is the compression of pages.
type Compression uint8

// The compressions.
const (
	Zstd Compression = iota // compact and fast to read
	Uncompressed
	Snappy // supported by the oldest readers
	Gzip
	LZ4
)

// WriteOptions control how files are written.
type WriteOptions struct {
	// GroupRows is the number of rows in a row group. 0 means about a million.
	GroupRows int

	// PageBytes is the approximate size of a page before compression. [ReadOptions.Where] skips whole
	// pages, and reading processes whole pages: small pages find few rows faster, but make files larger. A
	// page has at most about 20,000 rows. 0 means 1 MiB.
	PageBytes int

	Compression Compression

	// Plain omits the Specs: types are then read back according to the Parquet schema.
	Plain bool

	// Keys encrypt the file, including its footer. Nil means no encryption.
	Keys *Keys

	// Context ends writing when it ends, with its cause as the error. The file is then unchanged.
	// Nil means no context.
	Context context.Context
}

// fail returns an error with a place.
func fail(kind error, fn, where, format string, args ...any) *tenon.Error {
	return &tenon.Error{Kind: kind, Op: fn, Where: where, Msg: fmt.Sprintf(format, args...), Line: source.Line()}
}

// damaged wraps an error of the underlying library.
func damaged(fn, where string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := err.(*tenon.Error); ok {
		return e
	}
	return &tenon.Error{Kind: tenon.ErrInvalid, Op: fn, Where: where, Msg: "the file is damaged", Err: err, Line: source.Line()}
}

// recovered turns a panic of the underlying library into an error.
func recovered(fn, where string, err *error) {
	switch r := recover().(type) {
	case nil:
	case *tenon.Error:
		*err = r
	default:
		*err = fail(tenon.ErrInvalid, fn, where, "the file is damaged: %v", r)
	}
}
