package formats

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/csvio"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/structured"
)

// A Format is a file format. Fields for what it does not support are nil.
type Format struct {
	Name     string
	Suffixes []string // of file names, with the dot

	// Match reports whether a file with this head has the format.
	Match func(h Head) bool

	// Streams means that the format is read from front to back. Other formats are copied to a
	// file first if they come from a pipe.
	Streams bool

	Rows   func(in *Input, o Options) (*Rows, error)
	Model  func(in *Input) (*Model, error)
	Create func(w io.Writer, o WriteOptions) (RowWriter, error)

	// Tensors writes named tensors.
	Tensors func(w io.Writer, tensors map[string]tenon.Value) error
}

// Table lists the formats in the order in which they are tried. Those that match anything come
// last.
var Table = []*Format{
	parquetFormat, arrowFormat, arrowStreamFormat, npyFormat, ggufFormat, safetensorsFormat, shardsFormat,
	modelFormat, onnxFormat, npzFormat, pytorchFormat, checkpointFormat, recordsFormat, jsonFormat, linesFormat, tsvFormat, csvFormat,
	markdownFormat, htmlFormat, tableFormat,
}

// Options say what to read.
type Options struct {
	Context context.Context
	Columns []string // paths of the only fields that are needed; nil: all

	// Uniform gives all batches the same Spec, at the cost of reading twice, or everything at
	// once.
	Uniform bool

	First int // no more rows than this are needed; 0: all
	Last  int // only this many rows from the end are needed; 0: all

	// Faults and TableFaults, if they are not nil, collect the faults of JSON lines and of tables,
	// whose rows are then left out.
	Faults      *jsonl.Report
	TableFaults *csvio.Report

	Progress func(done, total int64) // called now and then with the number of bytes that have been read
}

// Rows are records that are read from front to back.
type Rows struct {
	// Batches yields the records in batches of about n, or in the pieces that the file has.
	Batches func(n int) iter.Seq2[*structured.Tensor, error]

	Count  int64   // the number of records, or -1 if it is unknown before reading
	Groups []int64 // the numbers of records of the file's own pieces
	Schema string  // in the format's own terms; may be empty
	Close  func() error
}

// A Tensor is a Value in a file that has not been read yet.
type Tensor struct {
	Name string
	Spec tenon.Spec
	Read func() (tenon.Value, error)
}

// A Model is named tensors, and functions.
type Model struct {
	Tensors   []Tensor
	Functions []*saved.Func
	Metadata  map[string]string
	Close     func() error
}

// Named returns the format with a name, such as jsonl.
func Named(name string) (*Format, error) {
	i := slices.IndexFunc(Table, func(f *Format) bool { return f.Name == name })
	if i < 0 {
		var all []string
		for _, f := range Table {
			all = append(all, f.Name)
		}
		return nil, fmt.Errorf("there is no format %q; there are %s", name, strings.Join(all, ", "))
	}
	return Table[i], nil
}

// Written returns the names of the formats in which records can be written, and the suffixes of
// all formats that can be written.
func Written() (names, suffixes string) {
	var n, s []string
	for _, f := range Table {
		if f.Create != nil {
			n = append(n, f.Name)
		}
		if f.Create != nil || f.Tensors != nil {
			s = append(s, f.Suffixes...)
		}
	}
	return strings.Join(n, ", "), strings.Join(s, " ")
}

// OfName returns the format that the suffix of a file name indicates, or nil. Suffixes of
// compression are ignored.
func OfName(name string) *Format {
	base := strings.ToLower(filepath.Base(name))
	base = strings.TrimSuffix(strings.TrimSuffix(base, ".gz"), ".zst")
	var best *Format
	longest := 0
	for _, f := range Table {
		for _, s := range f.Suffixes {
			if strings.HasSuffix(base, s) && len(s) > longest {
				best, longest = f, len(s)
			}
		}
	}
	return best
}

// Records opens an input as records. Of named tensors, there is one record each.
func Records(in *Input, o Options) (*Rows, error) {
	if o.Context == nil {
		o.Context = context.Background()
	}
	switch {
	case in.Format.Rows != nil:
		return in.Format.Rows(in, o)
	case in.Format.Model != nil:
		return catalogued(in)
	}
	return nil, fmt.Errorf("%s: %s can be written but not read", in.Name, in.Format.Name)
}

// OpenModel opens an input as tensors and functions.
func OpenModel(in *Input) (*Model, error) {
	if in.Format.Model == nil {
		return nil, fmt.Errorf("%s is %s, which contains neither a model nor named tensors; tenon info shows what is in it", in.Name, in.Format.Name)
	}
	return in.Format.Model(in)
}

// one returns an iterator over a single batch, which is read when it is needed.
func one(read func() (*structured.Tensor, error)) func(int) iter.Seq2[*structured.Tensor, error] {
	return func(int) iter.Seq2[*structured.Tensor, error] {
		return func(yield func(*structured.Tensor, error) bool) { yield(read()) }
	}
}

// recorded converts the Values of an iterator to records.
func recorded(all iter.Seq2[tenon.Value, error]) iter.Seq2[*structured.Tensor, error] {
	return func(yield func(*structured.Tensor, error) bool) {
		for v, err := range all {
			var t *structured.Tensor
			if err == nil {
				t, err = AsRecords(v)
			}
			if !yield(t, err) || err != nil {
				return
			}
		}
	}
}

func nothing() error { return nil }

var errEmpty = errors.New("the file is empty, so its format is unknown")
