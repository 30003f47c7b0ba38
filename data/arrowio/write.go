package arrowio

import (
	"io"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/abort"
	"github.com/tenonml/tenon/internal/atomicfile"
	"github.com/tenonml/tenon/internal/source"
)

// WriteFile writes a Value to a file, atomically replacing an existing one.
func WriteFile(name string, v tenon.Value, o WriteOptions) error {
	if err := atomicfile.Write(name, func(w io.Writer) error { return Encode(w, v, o) }); err != nil {
		if e, ok := err.(*tenon.Error); ok {
			return e
		}
		return &tenon.Error{Kind: tenon.ErrInvalid, Op: "arrowio.WriteFile", Where: name, Err: err, Line: source.Line()}
	}
	return nil
}

// Encode writes a Value to w, as an IPC file or stream.
func Encode(w io.Writer, v tenon.Value, o WriteOptions) error {
	x := NewWriter(w, o)
	if err := x.Write(v); err != nil {
		return err
	}
	return x.Close()
}

// A Writer writes Values with the same columns, one after the other. The first Value determines the
// columns and their types.
type Writer struct {
	w      io.Writer
	o      WriteOptions
	schema *arrow.Schema
	ipc    interface {
		Write(arrow.RecordBatch) error
		Close() error
	}
	err error
}

// NewWriter returns a Writer to w. It must be closed, which does not close w.
func NewWriter(w io.Writer, o WriteOptions) *Writer {
	return &Writer{w: abort.Writer(o.Context, w), o: o}
}

// Write adds a Value. After an error the Writer cannot be used any more.
func (x *Writer) Write(v tenon.Value) (err error) {
	const fn = "arrowio.Writer.Write"
	if x.err != nil {
		return x.err
	}
	defer func() { x.err = err }()
	defer recovered(fn, &err)
	defer tenon.Catch(&err)
	if v == nil {
		return fail(tenon.ErrInvalid, fn, "", "the value is nil")
	}
	b, err := toRecord(v, x.o.Plain)
	if err != nil {
		return err
	}
	if x.ipc == nil {
		if err := x.begin(b.Schema()); err != nil {
			return err
		}
	}
	if b, err = conformed(fn, b, x.schema); err != nil {
		return err
	}
	step := b.NumRows()
	if x.o.BatchRows > 0 {
		step = int64(x.o.BatchRows)
	}
	for i := int64(0); i == 0 || i < b.NumRows(); i += step {
		batch := b
		if step < b.NumRows() {
			batch = b.NewSlice(i, min(i+step, b.NumRows()))
		}
		if err := x.ipc.Write(batch); err != nil {
			return x.failed(fn, err)
		}
		if step == 0 {
			break
		}
	}
	return nil
}

// failed returns an error of the file or of arrow-go.
func (x *Writer) failed(fn string, err error) error {
	e := &tenon.Error{Kind: tenon.ErrInvalid, Op: fn, Err: err, Line: source.Line()}
	if !x.o.Stream && strings.Contains(err.Error(), "Dictionary replacement") {
		e.Msg, e.Hint = "the dictionary changes between batches, which files do not allow", "set WriteOptions.Stream"
	}
	return e
}

// begin writes the schema.
func (x *Writer) begin(s *arrow.Schema) error {
	x.schema = s
	options := []ipc.Option{ipc.WithSchema(s)}
	switch x.o.Compression {
	case LZ4:
		options = append(options, ipc.WithLZ4())
	case Zstd:
		options = append(options, ipc.WithZstd())
	}
	if x.o.Stream {
		x.ipc = ipc.NewWriter(x.w, options...)
		return nil
	}
	f, err := ipc.NewFileWriter(x.w, options...)
	if err != nil {
		return x.failed("arrowio.NewWriter", err)
	}
	x.ipc = f
	return nil
}

// Close writes the end of a file or stream. Without a Value, there are no columns.
func (x *Writer) Close() (err error) {
	defer recovered("arrowio.Writer.Close", &err)
	if x.err != nil {
		return x.err
	}
	if x.ipc == nil {
		s := arrow.NewSchema(nil, nil)
		if err := x.begin(s); err != nil {
			return err
		}
		if err := x.ipc.Write(array.NewRecordBatch(s, nil, 0)); err != nil {
			return x.failed("arrowio.Writer.Close", err)
		}
	}
	if err := x.ipc.Close(); err != nil {
		return x.failed("arrowio.Writer.Close", err)
	}
	x.err = fail(tenon.ErrInvalid, "arrowio.Writer", "", "the writer is closed")
	return nil
}
