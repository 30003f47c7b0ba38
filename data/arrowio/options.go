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

// What an element of an array can be: a row of a Value, all of a Value, or the list of all
// of its rows.
const (
	formRows  = "rows"
	formWhole = "whole"
	formList  = "list"
)

// columnName is the name of the column of a Value that is not a list of records.
const columnName = "value"

// ReadOptions change how data are read. The zero value reads everything as what it was
// when it was written.
type ReadOptions struct {
	// Columns are the columns to read, in this order: names, or paths of fields in them as
	// structured.PathString writes them (jets.pt), through lists. Nil: all. What is not
	// read takes no memory and is not checked. The columns of a Value that is not a list of
	// records cannot be chosen.
	Columns []string

	// Context ends reading when it ends: with its cause as the error, also while a reader
	// hangs. Nil: nothing does.
	Context context.Context

	// Spec says what the data are: of the Value as a whole, or of its rows with an unknown
	// number of them. Nil: what the metadata say, and else the Arrow types. Data that do
	// not fit are an error of kind tenon.ErrDType.
	Spec tenon.Spec

	// Plain ignores the Specs in the metadata.
	Plain bool

	// Copy copies all data, so that Arrow's memory may be released.
	Copy bool

	// MaxBytes bounds the memory that is taken for data that take less in the input, as
	// compressed ones do. 0: 64 MiB, and 1024 times the size of the input.
	MaxBytes int64
}

// Compression says how the buffers of a file are compressed.
type Compression uint8

// The compressions that Arrow knows.
const (
	Uncompressed Compression = iota // data can be read without a copy
	LZ4                             // fast
	Zstd                            // small
)

// WriteOptions change how data are written.
type WriteOptions struct {
	// Stream writes the streaming format, whose dictionaries may change from batch to batch.
	// Otherwise it is a file, of which any batch can be read by itself.
	Stream bool

	// BatchRows divides each Value into record batches of that many rows. 0: one batch.
	BatchRows int

	Compression Compression

	// Plain leaves out the Specs: what is read again follows from the Arrow types alone.
	Plain bool

	// Context ends writing when it ends, with its cause as the error. A file is left as it
	// was then. Nil: nothing does.
	Context context.Context
}

// fail returns an error about a column.
func fail(kind error, fn, where, format string, args ...any) *tenon.Error {
	return &tenon.Error{Kind: kind, Op: fn, Where: where, Msg: fmt.Sprintf(format, args...), Line: source.Line()}
}

// recovered turns what arrow-go throws at input that it does not understand into an error.
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

// ended says that a context has.
type ended struct{ cause error }

func (e *ended) Error() string { return e.cause.Error() }

// proceed returns an error where a context has ended.
func proceed(ctx context.Context) error {
	if err := abort.Done(ctx); err != nil {
		return &ended{err}
	}
	return nil
}
