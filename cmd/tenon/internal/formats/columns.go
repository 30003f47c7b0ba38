package formats

import (
	"bytes"
	"fmt"
	"io"
	"iter"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/arrowio"
	"github.com/tenonml/tenon/data/parquetio"
	"github.com/tenonml/tenon/data/protoio"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

var parquetFormat = &Format{
	Name: "parquet", Suffixes: []string{".parquet", ".pq"},
	Match: func(h Head) bool { return h.magic("PAR1", "PARE") },
	Rows: func(in *Input, o Options) (*Rows, error) {
		f, err := parquetio.Open(in.Path, parquetio.ReadOptions{Columns: o.Columns, Context: o.Context})
		if err != nil {
			return nil, err
		}
		rows := &Rows{Schema: f.Schema().String(), Close: f.Close}
		for i := range f.Len() {
			rows.Groups = append(rows.Groups, f.Rows(i))
			rows.Count += f.Rows(i)
		}
		rows.Batches = func(int) iter.Seq2[*structured.Tensor, error] {
			if f.Len() > 0 {
				return recorded(f.All())
			}
			return one(func() (*structured.Tensor, error) { // only its Spec matters
				v, err := f.Read()
				if err != nil {
					return nil, err
				}
				return AsRecords(v)
			})(0)
		}
		return rows, nil
	},
	Create: func(w io.Writer, o WriteOptions) (RowWriter, error) {
		return typed{parquetio.NewWriter(w, parquetio.WriteOptions{Context: o.Context})}, nil
	},
}

var arrowFormat = &Format{
	Name: "arrow", Suffixes: []string{".arrow", ".feather", ".ipc"},
	Match: func(h Head) bool { return h.magic("ARROW1") },
	Rows: func(in *Input, o Options) (*Rows, error) {
		f, err := arrowio.Open(in.Path, arrowio.ReadOptions{Columns: o.Columns, Context: o.Context, Copy: true})
		if err != nil {
			return nil, err
		}
		return &Rows{
			Count: -1, Schema: f.Schema().String(), Close: f.Close, Groups: make([]int64, 0, f.Len()),
			Batches: func(int) iter.Seq2[*structured.Tensor, error] { return recorded(f.All()) },
		}, nil
	},
	Create: func(w io.Writer, o WriteOptions) (RowWriter, error) {
		return typed{arrowio.NewWriter(w, arrowio.WriteOptions{Context: o.Context})}, nil
	},
}

var arrowStreamFormat = &Format{
	Name: "arrows", Suffixes: []string{".arrows"}, Streams: true,
	Match: func(h Head) bool { return h.magic("\xff\xff\xff\xff") },
	Rows: func(in *Input, o Options) (*Rows, error) {
		r, err := in.reader()
		if err != nil {
			return nil, err
		}
		x, err := arrowio.NewReader(r, arrowio.ReadOptions{Columns: o.Columns, Context: o.Context, Copy: true})
		if err != nil {
			r.Close()
			return nil, err
		}
		return &Rows{
			Count: -1, Schema: x.Schema().String(), Close: r.Close,
			Batches: func(int) iter.Seq2[*structured.Tensor, error] { return recorded(x.All()) },
		}, nil
	},
	Create: func(w io.Writer, o WriteOptions) (RowWriter, error) {
		return typed{arrowio.NewWriter(w, arrowio.WriteOptions{Stream: true, Context: o.Context})}, nil
	},
}

var recordsFormat = &Format{
	Name: "tfrecord", Suffixes: []string{".tfrecord", ".tfrecords"}, Streams: true,
	Match: Head.records,
	Rows: func(in *Input, o Options) (*Rows, error) {
		f, err := in.reader()
		if err != nil {
			return nil, err
		}
		rows := &Rows{Count: -1, Close: f.Close}
		rows.Batches = func(n int) iter.Seq2[*structured.Tensor, error] {
			return func(yield func(*structured.Tensor, error) bool) {
				r, err := protoio.NewRecordReader(f, protoio.RecordOptions{Context: o.Context})
				if err != nil {
					yield(nil, fmt.Errorf("%s: %w", in.Name, err))
					return
				}
				examples(r, n, yield)
			}
		}
		return rows, nil
	},
	Create: func(w io.Writer, o WriteOptions) (RowWriter, error) {
		x, err := protoio.NewRecordWriter(w, protoio.RecordOptions{Context: o.Context})
		return &exampleWriter{x}, err
	},
}

// examples reads messages in batches as records. A message that is not an example becomes a
// string.
func examples(r *protoio.RecordReader, n int, yield func(*structured.Tensor, error) bool) {
	var fs protoio.Features
	known := false
	flush := func(messages [][]byte) bool {
		var t *structured.Tensor
		var err error
		if !known {
			known = true
			if fs, err = protoio.InferFeatures(messages); err != nil {
				fs = nil
			}
		}
		if len(fs) > 0 {
			t, err = protoio.ParseStructured(messages, fs, protoio.ParseOptions{RefuseExtra: true})
		} else {
			texts := make([]string, len(messages))
			for i, m := range messages {
				texts[i] = string(m)
			}
			t, err = structured.FromFieldsAndRank([]structured.Field{{Name: "record", Value: tensor.Of(texts)}}, 1, structured.Options{})
		}
		return yield(t, err) && err == nil
	}
	var messages [][]byte
	for m, err := range r.All() {
		if err != nil {
			yield(nil, err)
			return
		}
		if messages = append(messages, bytes.Clone(m)); len(messages) == n {
			if !flush(messages) {
				return
			}
			messages = nil
		}
	}
	if len(messages) > 0 || !known {
		flush(messages)
	}
}

type exampleWriter struct{ w *protoio.RecordWriter }

func (x *exampleWriter) Write(t *structured.Tensor) error {
	messages, _, err := protoio.EncodeStructured(t)
	if err != nil {
		return err
	}
	for _, m := range messages {
		if err := x.w.Write(m); err != nil {
			return err
		}
	}
	return nil
}

func (x *exampleWriter) Close() error { return x.w.Close() }

// AsRecords returns a Value as records of rank 1: any other tensor becomes the field value, and any other
// Value is wrapped in one.
func AsRecords(v tenon.Value) (out *structured.Tensor, err error) {
	defer tenon.Catch(&err)
	t, ok := v.(tensor.Tensor)
	if !ok {
		h, err := structured.HoldRows(v)
		if err != nil {
			if h, err = structured.Hold(v); err != nil {
				return nil, err
			}
		}
		t = h
	}
	if r, ok := t.(*structured.Tensor); ok && r.Rank() == 1 {
		return r, nil
	}
	if t.Shape().Rank() == 0 {
		t = ops.ExpandDims(t, 0)
	}
	if r, ok := t.(*structured.Tensor); ok && r.Rank() == 1 {
		return r, nil
	}
	return structured.FromFieldsAndRank([]structured.Field{{Name: "value", Value: t}}, 1, structured.Options{})
}

// typed writes to a format whose columns are determined by the first batch.
type typed struct {
	w interface {
		Write(v tenon.Value) error
		Close() error
	}
}

func (x typed) Write(t *structured.Tensor) error { return x.w.Write(t) }

func (x typed) Close() error { return x.w.Close() }
