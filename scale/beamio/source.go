package beamio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local" // local files
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/arrowio"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/data/parquetio"
	"github.com/tenonml/tenon/data/protoio"
	"github.com/tenonml/tenon/internal/rows"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// ReadOptions say how files are read.
type ReadOptions struct {
	Format Format

	// Rows is the maximum number of rows of a batch. 0 stands for whole row groups of Parquet, whole record batches of
	// Arrow, and 4,096 lines or messages.
	Rows int

	// Columns are the columns of Parquet and Arrow files to read, in the form that their packages use; nil
	// stands for all.
	Columns []string

	// Schema is the Spec of JSON records, as returned by jsonl.Infer. JSON lines require it, because no worker sees
	// all of them.
	Schema *structured.Spec

	// MaxBytes bounds the memory for compressed data, as in the packages of the formats.
	MaxBytes int64
}

// Read returns the batches of the files whose names match a pattern. If there are none, that is an error when
// the pipeline runs.
func Read(s beam.Scope, pattern string, o ReadOptions) beam.PCollection {
	f := &readFn{Pattern: pattern, Format: o.Format, Rows: o.Rows, Columns: o.Columns, MaxBytes: o.MaxBytes}
	if o.Schema != nil {
		f.Schema = tenon.AppendBinary(nil, o.Schema)
	}
	if o.Rows < 0 {
		tenon.Throw(tenon.NewError(tenon.ErrInvalid, "beamio.Read", fmt.Sprintf("batches cannot have %d rows", o.Rows)))
	}
	s = s.Scope("beamio.Read")
	names := beam.ParDo(s, &matchFn{pattern}, beam.Impulse(s))
	return beam.ParDo(s, f, beam.Reshuffle(s, names))
}

// file is the name of a file and its number.
type file struct {
	Name   string
	Number int
}

// matchFn lists the files of a pattern.
type matchFn struct{ Pattern string }

// ProcessElement is what Beam calls.
func (f *matchFn) ProcessElement(ctx context.Context, _ []byte, emit func(file)) error {
	fs, err := filesystem.New(ctx, f.Pattern)
	if err != nil {
		return err
	}
	defer fs.Close()
	names, err := fs.List(ctx, f.Pattern)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return tenon.NewError(tenon.ErrNotFound, "beamio.Read", "there are no files "+f.Pattern)
	}
	slices.Sort(names)
	for i, n := range names {
		emit(file{n, i})
	}
	return nil
}

// readFn reads files.
type readFn struct {
	Pattern  string
	Format   Format
	Rows     int
	Columns  []string
	Schema   []byte
	MaxBytes int64
}

// ProcessElement is what Beam calls.
func (f *readFn) ProcessElement(ctx context.Context, from file, emit func(Batch)) (err error) {
	defer tenon.Catch(&err)
	path, done, err := onDisk(ctx, from.Name)
	if err != nil {
		return err
	}
	defer done()
	n := int64(from.Number) << 32
	for v, err := range f.values(ctx, from.Name, path) {
		if err != nil {
			return fmt.Errorf("beamio: %s: %w", from.Name, err)
		}
		count, err := rows.Count(v)
		if err != nil {
			return err
		}
		size := f.Rows
		if size == 0 {
			size = max(count, 1)
		}
		for lo := 0; lo < count; lo += size {
			part := v
			if size < count {
				if part, err = rows.Slice(v, lo, min(lo+size, count)); err != nil {
					return err
				}
			}
			emit(Batch{n, part})
			n++
		}
	}
	return nil
}

// values reads a local file, piece by piece.
func (f *readFn) values(ctx context.Context, name, path string) iter.Seq2[tenon.Value, error] {
	format, err := f.Format.of(name)
	if err != nil {
		return failed(err)
	}
	switch format {
	case JSONLines:
		return f.lines(ctx, path)
	case TFRecord:
		return f.messages(ctx, path)
	case Arrow:
		a, err := arrowio.Open(quoted(path), arrowio.ReadOptions{Columns: f.Columns, Copy: true, Context: ctx, MaxBytes: f.MaxBytes}) // runners keep batches after the file is closed
		if err != nil {
			return failed(err)
		}
		return numbered(a.Len(), a.At, a.Close)
	}
	p, err := parquetio.Open(quoted(path), parquetio.ReadOptions{Columns: f.Columns, Context: ctx, MaxBytes: f.MaxBytes})
	if err != nil {
		return failed(err)
	}
	return numbered(p.Len(), p.At, p.Close)
}

// size is the number of lines or messages that are read at once.
func (f *readFn) size() int {
	if f.Rows == 0 {
		return 4096
	}
	return f.Rows
}

func (f *readFn) lines(ctx context.Context, path string) iter.Seq2[tenon.Value, error] {
	if f.Schema == nil {
		e := tenon.NewError(tenon.ErrInvalid, "beamio.Read", "JSON lines need a schema")
		e.Hint = "give ReadOptions.Schema, such as that of jsonl.Infer on one of the files"
		return failed(e)
	}
	s, _, err := tenon.DecodeBinary(f.Schema)
	schema, ok := s.(*structured.Spec)
	if err != nil || !ok {
		return failed(errors.Join(err, fmt.Errorf("the schema is %v", s)))
	}
	return func(yield func(tenon.Value, error) bool) {
		for t, err := range jsonl.Batches(jsonl.Files(path), f.size(), jsonl.Options{Schema: schema, Context: ctx}) {
			if !yield(t, err) || err != nil {
				return
			}
		}
	}
}

func (f *readFn) messages(ctx context.Context, path string) iter.Seq2[tenon.Value, error] {
	return func(yield func(tenon.Value, error) bool) {
		in, err := os.Open(path)
		if err != nil {
			yield(nil, err)
			return
		}
		defer in.Close()
		r, err := protoio.NewRecordReader(in, protoio.RecordOptions{Context: ctx})
		if err != nil {
			yield(nil, err)
			return
		}
		var list []string
		for m, err := range r.All() {
			if err != nil {
				yield(nil, err)
				return
			}
			if list = append(list, string(m)); len(list) == f.size() {
				if !yield(tensor.Of(list), nil) {
					return
				}
				list = nil
			}
		}
		if len(list) > 0 {
			yield(tensor.Of(list), nil)
		}
	}
}

func failed(err error) iter.Seq2[tenon.Value, error] {
	return func(yield func(tenon.Value, error) bool) { yield(nil, err) }
}

// numbered yields the pieces of a file, and closes it afterwards.
func numbered(n int64, at func(int64) (tenon.Value, error), done func() error) iter.Seq2[tenon.Value, error] {
	return func(yield func(tenon.Value, error) bool) {
		defer done()
		for i := range n {
			if v, err := at(i); !yield(v, err) || err != nil {
				return
			}
		}
	}
}

// quoted returns the pattern that matches only the given name.
func quoted(name string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(name)
}

// onDisk returns the local path of a file: its own, or that of a copy, which done removes.
func onDisk(ctx context.Context, name string) (path string, done func(), err error) {
	if !strings.Contains(name, "://") {
		return name, func() {}, nil
	}
	fs, err := filesystem.New(ctx, name)
	if err != nil {
		return "", nil, err
	}
	defer fs.Close()
	in, err := fs.OpenRead(ctx, name)
	if err != nil {
		return "", nil, err
	}
	defer in.Close()
	out, err := os.CreateTemp("", "beamio-*-"+name[strings.LastIndex(name, "/")+1:])
	if err != nil {
		return "", nil, err
	}
	done = func() { os.Remove(out.Name()) }
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		done()
		return "", nil, err
	}
	return out.Name(), done, nil
}

func init() {
	register.DoFn3x1[context.Context, []byte, func(file), error](&matchFn{})
	register.DoFn3x1[context.Context, file, func(Batch), error](&readFn{})
	register.Emitter1[file]()
}
