package parquetio

import (
	"context"
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/source"
)

// ReadOptions change how files are read. The zero value reads everything as what it was
// when it was written.
type ReadOptions struct {
	// Columns are the columns to read, in this order: names, or paths of fields in them as
	// structured.PathString writes them (jets.pt), through lists. Nil: all.
	Columns []string

	// Where are conditions of which all have to be met by a row. Row groups whose statistics show that
	// none of their rows does are left out, and of the others the pages whose bounds in the page index show
	// it. All rows that are left are read, also those that do not meet the conditions.
	Where []Range

	// Plain ignores the Specs in the metadata.
	Plain bool

	// Keys decrypt a file that is encrypted. Columns without a key are an error when they are read. A file that is not
	// encrypted is an error, so that none of them can be put in the place of another.
	Keys *Keys

	// MaxBytes bounds the memory that is taken for a row group. 0: 64 MiB, and 1024 times the
	// size of the file.
	MaxBytes int64

	// Context ends reading when it ends, with its cause as the error. Nil: nothing does.
	Context context.Context
}

// A Range says that the values of a column are from Min to Max, both of which count. A
// column that is in lists has a value in the range.
type Range struct {
	Column string // a name or a path

	// Min and Max are numbers, strings or bools; of dates and timestamps a time.Time, of times of day a
	// time.Duration, and of these, decimals and binary data of a fixed size also texts as element.Parse reads them. A number beside
	// a time is what the file stores. Nil is no bound.
	Min, Max any
}

// Compression says how pages are compressed.
type Compression uint8

// The compressions.
const (
	Zstd Compression = iota // small and fast to read
	Uncompressed
	Snappy // what the oldest readers know
	Gzip
	LZ4
)

// WriteOptions change how files are written.
type WriteOptions struct {
	// GroupRows is the number of rows of a row group. 0: about a million.
	GroupRows int

	// PageBytes is about how many bytes a page has before it is compressed. What [ReadOptions.Where] leaves
	// out is whole pages, and reading goes through whole pages: small ones find few rows sooner, and
	// make larger files. A page has some 20,000 rows at most. 0: 1 MiB.
	PageBytes int

	Compression Compression

	// Plain leaves out the Specs: what is read again follows from the schema of Parquet.
	Plain bool

	// Keys encrypt the file, its footer too. Nil: it is not encrypted.
	Keys *Keys

	// Context ends writing when it ends, with its cause as the error. A file is left as it
	// was then. Nil: nothing does.
	Context context.Context
}

// fail returns an error about a place.
func fail(kind error, fn, where, format string, args ...any) *tenon.Error {
	return &tenon.Error{Kind: kind, Op: fn, Where: where, Msg: fmt.Sprintf(format, args...), Line: source.Line()}
}

// damaged returns an error of the library below as one of ours.
func damaged(fn, where string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := err.(*tenon.Error); ok {
		return e
	}
	return &tenon.Error{Kind: tenon.ErrInvalid, Op: fn, Where: where, Msg: "the file is damaged", Err: err, Line: source.Line()}
}

// recovered turns what the library below throws into an error.
func recovered(fn, where string, err *error) {
	switch r := recover().(type) {
	case nil:
	case *tenon.Error:
		*err = r
	default:
		*err = fail(tenon.ErrInvalid, fn, where, "the file is damaged: %v", r)
	}
}
