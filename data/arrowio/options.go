package arrowio

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/abort"
	"github.com/tenonml/tenon/internal/source"
)

// The keys of metadata.
const (
	keySpec    = "tenon.spec"  // the Spec of a column or a whole, in the binary form and base64
	keyWhole   = "tenon.whole" // "column": the one column of the batch is the Value
	keyForm    = "tenon.form"  // what an element is
	keyExtName = "ARROW:extension:name"
	keyExtMeta = "ARROW:extension:metadata"

	fixedShape    = "arrow.fixed_shape_tensor"
	variableShape = "arrow.variable_shape_tensor"
	bool8         = "arrow.bool8"
)

// The content of an element of an array: a row of a Value, a whole Value, or the list of all of its
// rows.
const (
	formRows  = "rows"
	formWhole = "whole"
	formList  = "list"
)

// columnName is the name of the column of a Value that is not a list of records.
const columnName = "value"

// ReadOptions control how data is read. The zero value reads everything, with its original type.
type ReadOptions struct {
	// Columns are the columns to read, in this order: names, or paths of fields in the form
	// of structured.PathString (jets.pt), through lists. Nil means all. Columns that are
	// not read take no memory and are not checked. A Value that is not a list of records
	// has no columns to choose from.
	Columns []string

	// Context ends reading when it ends, with its cause as the error, even while a reader hangs.
	// Nil means no context.
	Context context.Context

	// Spec is the Spec of the data: of the Value as a whole, or of its rows with an unknown number
	// of them. Nil means the Spec in the metadata or, without one, the Arrow types. Data that does
	// not fit is an error of kind tenon.ErrDType.
	Spec tenon.Spec

	// Plain ignores the Specs in the metadata.
	Plain bool

	// Copy copies all data, so that Arrow's memory can be released.
	Copy bool

	// MaxBytes limits the memory for data that takes less space in the input, such as compressed
	// data. 0 means 64 MiB plus 1024 times the size of the input.
	MaxBytes int64
}

// Compression is the compression of the buffers of a file.
type Compression uint8

// The compressions supported by Arrow.
const (
	Uncompressed Compression = iota // data can be read without copying
	LZ4                             // fast compression
	Zstd                            // small files
)

// WriteOptions control how data is written.
type WriteOptions struct {
	// Stream writes the streaming format, in which dictionaries may change from batch to batch.
	// Otherwise the file format is written, in which each batch can be read independently.
	Stream bool

	// BatchRows divides each Value into record batches of that many rows. 0 means a single batch.
	BatchRows int

	Compression Compression

	// Plain omits the Specs: types are then read back according to the Arrow types alone.
	Plain bool

	// Context ends writing when it ends, with its cause as the error. The file is then unchanged.
	// Nil means no context.
	Context context.Context
}

// fail returns an error about a column.
func fail(kind error, fn, where, format string, args ...any) *tenon.Error {
	return &tenon.Error{Kind: kind, Op: fn, Where: where, Msg: fmt.Sprintf(format, args...), Line: source.Line()}
}

// recovered turns a panic of arrow-go, which it uses for input that it cannot interpret, into an
// error.
func recovered(fn string, err *error) {
	switch r := recover().(type) {
	case nil:
	case *tenon.Error:
		*err = r
	default:
		*err = fail(tenon.ErrInvalid, fn, "", "the data is damaged: %v", r)
	}
}

// damaged wraps an error of arrow-go.
func damaged(fn, where string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := err.(*tenon.Error); ok {
		return e
	}
	var inside runtime.Error
	if errors.As(err, &inside) {
		err = errors.New("a buffer is shorter than its stated length")
	}
	var end *ended
	if errors.As(err, &end) {
		return &tenon.Error{Op: fn, Where: where, Msg: "reading was cancelled", Err: end.cause, Line: source.Line()}
	}
	return &tenon.Error{Kind: tenon.ErrInvalid, Op: fn, Where: where, Msg: "the data is not valid Arrow", Err: err, Line: source.Line()}
}

// ended is the error of a context that has ended.
type ended struct{ cause error }

func (e *ended) Error() string { return e.cause.Error() }

// proceed returns an error if a context has ended.
func proceed(ctx context.Context) error {
	if err := abort.Done(ctx); err != nil {
		return &ended{err}
	}
	return nil
}
