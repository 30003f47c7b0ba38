package csvio

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"strconv"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/abort"
	"github.com/tenonml/tenon/internal/colname"
	"github.com/tenonml/tenon/internal/input"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/structured"
)

// ReadFile reads the table in a file.
func ReadFile(name string, o Options) (*structured.Tensor, error) { return Read(Files(name), o) }

// Read reads a table: records of rank 1 with a row for each record of the text. A fault in
// the text is an error with an [*Error] as its cause.
func Read(s Source, o Options) (*structured.Tensor, error) {
	for t, err := range read(s, 0, o, "csvio.Read", nil) {
		return t, err
	}
	return structured.FromFields(nil, rowsOf(0), structured.Options{NRows: 0})
}

// Batches reads a table as records of a number of rows, the last of which may have fewer.
// Types that are not given are those of the first batch: a later field that is not of
// its column's type is an error.
func Batches(s Source, rows int, o Options) iter.Seq2[*structured.Tensor, error] {
	return func(yield func(*structured.Tensor, error) bool) {
		if rows < 1 {
			yield(nil, fail(tenon.ErrInvalid, "csvio.Batches", "rows", "is %d, want 1 at least", rows))
			return
		}
		read(s, rows, o, "csvio.Batches", map[string]Type{})(yield)
	}
}

// read reads tables of a number of rows, or one of all where that is 0.
func read(s Source, rows int, o Options, fn string, keep map[string]Type) iter.Seq2[*structured.Tensor, error] {
	return func(yield func(*structured.Tensor, error) bool) {
		r := o.Report
		if r == nil {
			r = &Report{}
		}
		*r = Report{}
		var t *table
		name := ""
		give := func() bool {
			v, err := t.records(&o, name, r, keep)
			for _, c := range t.cols {
				c.bytes, c.ends, c.state = nil, nil, nil
			}
			t.lines = nil
			if err != nil {
				yield(nil, caused(fn, err))
				return false
			}
			return yield(v, nil)
		}
		if s.err != nil {
			yield(nil, caused(fn, s.err))
			return
		}
		given := false
		for _, in := range s.inputs {
			name = in.Name
			for err := range records(in, &o, r, &t) {
				if err != nil {
					yield(nil, caused(fn, err))
					return
				}
				if rows > 0 && len(t.lines) == rows {
					if given = true; !give() {
						return
					}
				}
			}
		}
		if t != nil && (len(t.lines) > 0 || !given) {
			give()
		}
	}
}

// caused returns an error with its cause: a fault of the text, or of what it is read from.
func caused(fn string, err error) error {
	var own *tenon.Error
	if errors.As(err, &own) {
		return err
	}
	return &tenon.Error{Kind: tenon.ErrInvalid, Op: fn, Err: err, Line: source.Line()}
}

// records reads the records of an input into a table, which is made for the first one, and
// yields after each.
func records(in input.Input, o *Options, r *Report, to **table) iter.Seq[error] {
	return func(yield func(error) bool) {
		src := io.NopCloser(io.Reader(bytes.NewReader(in.Data)))
		if in.Open != nil {
			var err error
			if src, err = in.Open(); err != nil {
				yield(err)
				return
			}
		}
		src = abort.Reader(o.Context, src)
		defer src.Close()
		s := o.scanner(src, in.Name)
		first := true
		for {
			if err := abort.Done(o.Context); err != nil {
				yield(err)
				return
			}
			fields, line, fault, err := s.next()
			if err == io.EOF {
				return
			}
			if err == nil && first && fault != nil {
				err = fault // of a header, or of what says how many fields there are
			}
			if err != nil {
				yield(err)
				return
			}
			if first {
				first = false
				if *to == nil {
					*to = o.table(fields)
				} else if e := same(*to, fields, o); e != nil {
					yield(e)
					return
				}
				if !o.NoHeader {
					if !yield(nil) {
						return
					}
					continue
				}
			}
			t := *to
			if fault == nil && len(fields) != len(t.cols) {
				fault = s.fault(Fields, line, "there are "+strconv.Itoa(len(fields))+" fields, want "+strconv.Itoa(len(t.cols)))
				if !o.Lenient {
					yield(fault)
					return
				}
			}
			if fault != nil {
				r.Skipped = append(r.Skipped, fault)
				continue
			}
			for i, f := range fields {
				t.cols[i].add(f, o)
			}
			t.lines = append(t.lines, line)
			if !yield(nil) {
				return
			}
		}
	}
}

// scanner returns what divides text, behind a byte order mark.
func (o *Options) scanner(src io.Reader, name string) *scanner {
	s := &scanner{from: src, name: name, delim: o.Delim, quote: o.Quote, comment: o.Comment, lenient: o.Lenient, line: 1}
	if s.delim == 0 {
		s.delim = ','
	}
	if s.quote == 0 {
		s.quote = '"'
	}
	if o.NoQuotes {
		s.quote = 0
	}
	head := make([]byte, 3)
	n, err := io.ReadFull(src, head)
	s.buf = bytes.TrimPrefix(head[:n], []byte("\xef\xbb\xbf"))
	s.ended = err == io.EOF || err == io.ErrUnexpectedEOF
	return s
}

// table returns an empty table with the columns that the first record says.
func (o *Options) table(fields []field) *table {
	names := make([]string, len(fields))
	if !o.NoHeader {
		for i, f := range fields {
			names[i] = string(f.text)
		}
	}
	t := &table{}
	for _, name := range colname.Filled(names) {
		t.cols = append(t.cols, &column{name: name, given: o.Types[name]})
	}
	return t
}

// same returns an error if the header of a further input has other columns.
func same(t *table, fields []field, o *Options) error {
	for i, c := range o.table(fields).cols {
		if len(fields) != len(t.cols) || c.name != t.cols[i].name {
			return fail(tenon.ErrInvalid, "csvio.Read", c.name, "the columns are not those of the first file")
		}
	}
	return nil
}
