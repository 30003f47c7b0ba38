package beamio

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/arrowio"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/data/parquetio"
	"github.com/tenonml/tenon/data/protoio"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// WriteOptions say how files are written.
type WriteOptions struct {
	// Format is the format of the files. ByName stands for Parquet.
	Format Format

	// Shards is the number of files. With 0, the batches from each input file go into one output
	// file.
	Shards int
}

// Write writes batches to files named prefix-00000.parquet and so on, with the batches of each file in the order of
// their numbers, and returns the names of the files. With Shards, batch n of file f goes to shard (f + n) mod Shards. A
// shard without batches has no file. Records and tensors of strings can be written as TFRecord.
//
// A file appears when it is complete. If a fault makes Beam write it again, the result is the same.
func Write(s beam.Scope, prefix string, in beam.PCollection, o WriteOptions) beam.PCollection {
	if o.Format == ByName {
		o.Format = Parquet
	}
	_, err := o.Format.of(prefix)
	tenon.Throw(err)
	if o.Shards < 0 {
		tenon.Throw(tenon.NewError(tenon.ErrInvalid, "beamio.Write", fmt.Sprintf("%d shards", o.Shards)))
	}
	s = s.Scope("beamio.Write")
	shards := beam.ParDo(s, &shardFn{o.Shards}, in)
	return beam.ParDo(s, &writeFn{prefix, o.Format}, beam.GroupByKey(s, shards))
}

// shardFn assigns each batch to a shard.
type shardFn struct{ Shards int }

// ProcessElement is what Beam calls.
func (f *shardFn) ProcessElement(b Batch, emit func(int, Batch)) {
	k := b.Number >> 32
	if f.Shards > 0 {
		k = (k + b.Number&(1<<32-1)) % int64(f.Shards)
	}
	emit(int(k), b)
}

// writeFn writes the file of a shard.
type writeFn struct {
	Prefix string
	Format Format
}

// ProcessElement is what Beam calls.
func (f *writeFn) ProcessElement(ctx context.Context, shard int, batches func(*Batch) bool, emit func(string)) (err error) {
	defer tenon.Catch(&err)
	name := fmt.Sprintf("%s-%05d%s", f.Prefix, shard, extensions[f.Format])
	err = create(ctx, name, func(w io.Writer) error {
		write, done, err := f.Format.writer(ctx, w)
		if err != nil {
			return err
		}
		for _, b := range inOrder(batches) {
			if err := write(b.Value); err != nil {
				return err
			}
		}
		return done()
	})
	if err != nil {
		return fmt.Errorf("beamio: %s: %w", name, err)
	}
	emit(name)
	return nil
}

// create writes a file that appears when it is complete: under another name first, if the file system can
// rename.
func create(ctx context.Context, name string, write func(w io.Writer) error) error {
	fs, err := filesystem.New(ctx, name)
	if err != nil {
		return err
	}
	defer fs.Close()
	at := name
	rename, _ := fs.(filesystem.Renamer)
	if rename != nil {
		at += ".part"
	}
	out, err := fs.OpenWrite(ctx, at)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(out, 1<<20)
	err = write(b)
	if err == nil {
		err = b.Flush()
	}
	if err = errors.Join(err, out.Close()); err != nil {
		if r, ok := fs.(filesystem.Remover); ok {
			err = errors.Join(err, r.Remove(ctx, at))
		}
		return err
	}
	if rename != nil {
		return rename.Rename(ctx, at, name)
	}
	return nil
}

// writer returns a function that appends a Value, and one that ends the file.
func (f Format) writer(ctx context.Context, w io.Writer) (write func(tenon.Value) error, done func() error, err error) {
	switch f {
	case JSONLines:
		return func(v tenon.Value) error { return jsonl.Write(w, v, jsonl.WriteOptions{Context: ctx}) }, func() error { return nil }, nil
	case Arrow:
		a := arrowio.NewWriter(w, arrowio.WriteOptions{Context: ctx})
		return a.Write, a.Close, nil
	case TFRecord:
		r, err := protoio.NewRecordWriter(w, protoio.RecordOptions{Context: ctx})
		if err != nil {
			return nil, nil, err
		}
		return func(v tenon.Value) error { return writeMessages(r, v) }, r.Close, nil
	}
	p := parquetio.NewWriter(w, parquetio.WriteOptions{Context: ctx})
	return p.Write, p.Close, nil
}

// writeMessages writes strings unchanged, and records as examples.
func writeMessages(w *protoio.RecordWriter, v tenon.Value) error {
	switch v := v.(type) {
	case *tensor.Strings:
		for i := range v.Len() {
			if err := w.Write([]byte(v.At(i))); err != nil {
				return err
			}
		}
		return nil
	case *structured.Tensor:
		messages, _, err := protoio.EncodeStructured(v)
		if err != nil {
			return err
		}
		for _, m := range messages {
			if err := w.Write(m); err != nil {
				return err
			}
		}
		return nil
	}
	return tenon.NewError(tenon.ErrUnsupported, "beamio.Write", "TFRecord holds records and strings, not "+tenon.String(v.Spec()))
}

func init() {
	register.DoFn2x0[Batch, func(int, Batch)](&shardFn{})
	register.DoFn4x1[context.Context, int, func(*Batch) bool, func(string), error](&writeFn{})
}
