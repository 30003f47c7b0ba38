package formats

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/tenonml/tenon/data/csvio"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/structured"
)

var jsonFormat = &Format{
	Name: "json", Suffixes: []string{".json"}, Streams: true,
	Match: func(h Head) bool {
		return h.text() && h.json() && (h.named(".json") || bytes.HasPrefix(bytes.TrimSpace(h.Bytes), []byte{'['}))
	},
	Rows: jsonRows, Create: newArray,
}

var linesFormat = &Format{
	Name: "jsonl", Suffixes: []string{".jsonl", ".ndjson"}, Streams: true,
	Match: func(h Head) bool { return h.text() && h.json() },
	Rows:  jsonRows, Create: newLines,
}

func jsonRows(in *Input, o Options) (*Rows, error) {
	options := jsonl.Options{Format: jsonl.Auto, Paths: o.Columns, Context: o.Context, Uniform: o.Uniform, Progress: o.Progress, Missing: structured.MissingMasked, Unions: true}
	if o.Faults != nil && in.Format.Name == "jsonl" {
		options.Lenient, options.Format, options.Report, options.MaxSkipped = true, jsonl.Lines, o.Faults, 1
	}
	rows := &Rows{Count: -1, Close: nothing}
	var source jsonl.Source
	switch {
	case o.First > 0:
		r, err := in.reader()
		if err != nil {
			return nil, err
		}
		rows.Close = r.Close
		source = jsonl.Reader(in.Name, &firstValues{r: bufio.NewReaderSize(r, 1<<16), left: o.First})
	case o.Last > 0 && in.Path != "" && !in.compressed && in.temp == "" && in.Format.Name == "jsonl":
		f, err := os.Open(in.Path)
		if err != nil {
			return nil, plain(err)
		}
		rows.Close = f.Close
		from, err := lastLines(f, in.Size, o.Last)
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		name := in.Name
		if from > 0 {
			name = fmt.Sprintf("%s from byte %d on", name, from)
		}
		source = jsonl.Reader(name, io.NewSectionReader(f, from, in.Size-from))
	case in.stream != nil && in.temp == "":
		source = jsonl.Reader(in.Name, in.stream)
		if o.Uniform { // a pipe cannot be read twice
			options.Uniform = false
			rows.Batches = one(func() (*structured.Tensor, error) { return jsonl.Read(source, options) })
			return rows, nil
		}
	default:
		source = jsonl.Files(in.Path)
	}
	rows.Batches = func(n int) iter.Seq2[*structured.Tensor, error] { return jsonl.Batches(source, n, options) }
	return rows, nil
}

// firstValues reads JSON up to the end of a number of values or, if the document is an array, of its
// elements; it then ends the array.
type firstValues struct {
	r       *bufio.Reader
	left    int
	begun   bool
	list    bool // the document is an array
	depth   int  // inside of a value
	text    bool // inside of a string
	escaped bool
	tail    []byte
}

// Read implements io.Reader.
func (f *firstValues) Read(p []byte) (int, error) {
	if f.left == 0 {
		if len(f.tail) == 0 {
			return 0, io.EOF
		}
		n := copy(p, f.tail)
		f.tail = f.tail[n:]
		return n, nil
	}
	n, err := f.r.Read(p)
	for i, c := range p[:n] {
		if f.step(c) {
			f.left--
		}
		if f.left == 0 {
			if f.list {
				f.tail = []byte{']'}
			}
			return i + 1, nil
		}
	}
	return n, err
}

// step processes a byte and reports whether a value ends with it.
func (f *firstValues) step(c byte) bool {
	switch {
	case f.text:
		switch {
		case f.escaped:
			f.escaped = false
		case c == '\\':
			f.escaped = true
		case c == '"':
			f.text = false
			return f.depth == 0
		}
		return false
	case c == '"':
		f.text, f.begun = true, true
	case c == '[' && !f.begun:
		f.list, f.begun = true, true
	case c == '{' || c == '[':
		f.depth++
		f.begun = true
	case c == '}' || c == ']':
		f.depth--
		if f.depth < 0 { // the end of the array
			f.list, f.left = false, 1
			return true
		}
		return f.depth == 0
	}
	return false
}

// lastLines returns where the last n lines of a file begin.
func lastLines(f io.ReaderAt, size int64, n int) (int64, error) {
	buf := make([]byte, 1<<16)
	end := size
	for end > 0 {
		from := max(0, end-int64(len(buf)))
		b := buf[:end-from]
		if _, err := f.ReadAt(b, from); err != nil && err != io.EOF {
			return 0, err
		}
		for i := len(b) - 1; i >= 0; i-- {
			at := from + int64(i)
			if b[i] != '\n' || at == size-1 {
				continue
			}
			if n--; n == 0 {
				return at + 1, nil
			}
		}
		end = from
	}
	return 0, nil
}

var tsvFormat = &Format{
	Name: "tsv", Suffixes: []string{".tsv", ".tab"}, Streams: true,
	Match: func(h Head) bool {
		return h.text() && (h.named(".tsv", ".tab") || bytes.Count(h.firstLine(), []byte{'\t'}) > bytes.Count(h.firstLine(), []byte{','}))
	},
	Rows:   func(in *Input, o Options) (*Rows, error) { return csvRows(in, o, '\t') },
	Create: func(w io.Writer, o WriteOptions) (RowWriter, error) { return &fields{w: w, o: o, delim: '\t'}, nil },
}

var csvFormat = &Format{
	Name: "csv", Suffixes: []string{".csv"}, Streams: true,
	Match:  Head.text,
	Rows:   func(in *Input, o Options) (*Rows, error) { return csvRows(in, o, delimiter(in.Head.firstLine())) },
	Create: func(w io.Writer, o WriteOptions) (RowWriter, error) { return &fields{w: w, o: o, delim: ','}, nil },
}

// delimiter guesses the delimiter of fields.
func delimiter(line []byte) byte {
	best := byte(',')
	for _, c := range []byte{';', '|'} {
		if bytes.Count(line, []byte{c}) > bytes.Count(line, []byte{best}) {
			best = c
		}
	}
	return best
}

func csvRows(in *Input, o Options, delim byte) (*Rows, error) {
	options := csvio.Options{Delim: delim, Context: o.Context}
	for _, c := range o.Columns {
		if strings.ContainsAny(c, ".[") {
			options.Columns = nil // a path may be computed later
			break
		}
		options.Columns = append(options.Columns, c)
	}
	if o.TableFaults != nil {
		options.Lenient, options.Report, options.MaxSkipped = true, o.TableFaults, 1
	}
	rows := &Rows{Count: -1, Close: nothing}
	var source csvio.Source
	switch {
	case o.First > 0:
		r, err := in.reader()
		if err != nil {
			return nil, err
		}
		rows.Close = r.Close
		source = csvio.Reader(in.Name, &firstRecords{r: r, left: o.First + 1})
	case in.stream != nil && in.temp == "":
		source = csvio.Reader(in.Name, in.stream)
	default:
		source = csvio.Files(in.Path)
	}
	if o.Uniform {
		rows.Batches = one(func() (*structured.Tensor, error) { return csvio.Read(source, options) })
		return rows, nil
	}
	rows.Batches = func(n int) iter.Seq2[*structured.Tensor, error] { return csvio.Batches(source, n, options) }
	return rows, nil
}

// firstRecords reads a table up to the end of a number of records.
type firstRecords struct {
	r      io.Reader
	left   int
	quoted bool
}

// Read implements io.Reader.
func (f *firstRecords) Read(p []byte) (int, error) {
	if f.left == 0 {
		return 0, io.EOF
	}
	n, err := f.r.Read(p)
	for i, c := range p[:n] {
		switch {
		case c == '"':
			f.quoted = !f.quoted
		case c == '\n' && !f.quoted:
			if f.left--; f.left == 0 {
				return i + 1, nil
			}
		}
	}
	return n, err
}
