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

// A Format is a kind of file. What it cannot do is nil.
type Format struct {
	Name     string
	Suffixes []string // of names of files, with the point

	// Match reports whether a file that begins with what h says is of the format.
	Match func(h Head) bool

	// Streams is set where the format is read from front to back. Others are put in a file first
	// where they come from a pipe.
	Streams bool

	Rows   func(in *Input, o Options) (*Rows, error)
	Model  func(in *Input) (*Model, error)
	Create func(w io.Writer, o WriteOptions) (RowWriter, error)

	// Tensors writes tensors by name.
	Tensors func(w io.Writer, tensors map[string]tenon.Value) error
}

// Table is the formats, in the order in which they are tried. Those that match anything are last.
var Table = []*Format{
	parquetFormat, arrowFormat, arrowStreamFormat, npyFormat, ggufFormat, safetensorsFormat, shardsFormat,
	modelFormat, onnxFormat, npzFormat, pytorchFormat, checkpointFormat, recordsFormat, jsonFormat, linesFormat, tsvFormat, csvFormat,
	markdownFormat, htmlFormat, tableFormat,
}

// Options say what is read.
type Options struct {
	Context context.Context
	Columns []string // paths of the only fields that are needed; nil: all

	// Uniform makes the Specs of all batches alike, at the price of reading twice or all at once.
	Uniform bool

	First int // no more rows than this are needed; 0: all
	Last  int // only so many rows from the end are needed; 0: all

	// Faults and TableFaults, where they are not nil, are told what is wrong with lines of JSON and of
	// tables, which are left out then.
	Faults      *jsonl.Report
	TableFaults *csvio.Report

	Progress func(done, total int64) // called now and then with the bytes that were read
}

// Rows are records that are read from front to back.
type Rows struct {
	// Batches gives the records in pieces of about n, or as they are in the file where it has pieces of
	// its own.
	Batches func(n int) iter.Seq2[*structured.Tensor, error]

	Count  int64   // the number of records, -1 where that is not known without reading
	Groups []int64 // the numbers of records of the file's own pieces
	Schema string  // as the format itself says it; may be empty
	Close  func() error
}

// A Tensor is a Value in a file that has not been read.
type Tensor struct {
	Name string
	Spec tenon.Spec
	Read func() (tenon.Value, error)
}

// A Model is tensors by name, and functions.
type Model struct {
	Tensors   []Tensor
	Functions []*saved.Func
	Metadata  map[string]string
	Close     func() error
}

// Named returns the format of a name, such as jsonl.
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

// Written returns the names of the formats that records can be written in, and the suffixes of all
// that anything can be written in.
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

// OfName returns the format of the suffix of a file's name, and nil where it tells none. Suffixes of
// compression are left out.
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

// Records opens an input as records. Tensors by name are a record for each.
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
		return nil, fmt.Errorf("%s is %s, which holds no model and no tensors by name; tenon info says what is in it", in.Name, in.Format.Name)
	}
	return in.Format.Model(in)
}

// one gives a single batch that is read when it is asked for.
func one(read func() (*structured.Tensor, error)) func(int) iter.Seq2[*structured.Tensor, error] {
	return func(int) iter.Seq2[*structured.Tensor, error] {
		return func(yield func(*structured.Tensor, error) bool) { yield(read()) }
	}
}

// recorded takes the Values of an iterator for records.
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
