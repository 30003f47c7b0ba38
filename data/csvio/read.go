package csvio

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/abort"
	"github.com/tenonml/tenon/internal/colname"
	"github.com/tenonml/tenon/internal/input"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/structured"
)

// ReadFile reads the table in a file.
func ReadFile(name string, o Options) (*structured.Tensor, error) { return Read(Files(name), o) }

// Read reads a table as records of rank 1, with one row for each record of the text. A fault in the
// text is an error with an [*Error] as its cause.
func Read(s Source, o Options) (*structured.Tensor, error) {
	for t, err := range read(s, 0, o, "csvio.Read") {
		return t, err
	}
	return structured.FromFields(nil, rowsOf(0), structured.Options{NRows: 0})
}

// Batches reads a table as records with the given number of rows; the last batch may have fewer.
// Types that are not given are those of the first batch: a later field that does not have the type
// of its column is an error.
func Batches(s Source, rows int, o Options) iter.Seq2[*structured.Tensor, error] {
	return func(yield func(*structured.Tensor, error) bool) {
		if rows < 1 {
			yield(nil, fail(tenon.ErrInvalid, "csvio.Batches", "rows", "is %d, want at least 1", rows))
			return
		}
		read(s, rows, o, "csvio.Batches")(yield)
	}
}

// read reads tables with the given number of rows, or a single table if that is 0.
func read(s Source, rows int, o Options, fn string) iter.Seq2[*structured.Tensor, error] {
	return func(yield func(*structured.Tensor, error) bool) {
		r := o.Report
		if r == nil {
			r = &Report{}
		}
		*r = Report{}
		if s.err != nil {
			yield(nil, caused(fn, s.err))
			return
		}
		x := &tables{o: &o, r: r, rows: rows}
		given, name := false, ""
		for _, in := range s.inputs {
			name = in.Name
			more := true
			err := x.input(in, func() bool {
				given = true
				v, err := x.t.records(&o, name, r, true)
				more = yield(v, caused(fn, err)) && err == nil
				return more
			})
			if !more {
				return
			}
			if err != nil {
				yield(nil, caused(fn, err))
				return
			}
		}
		if x.t != nil && (len(x.t.lines) > 0 || !given) {
			v, err := x.t.records(&o, name, r, rows > 0)
			if err == nil && rows == 0 {
				err = o.judge(r)
			}
			if !yield(v, caused(fn, err)) || err != nil {
				return
			}
		}
		if rows > 0 {
			if err := o.judge(r); err != nil {
				yield(nil, err)
			}
		}
	}
}

// caused returns an error with its cause: a fault of the text, or an error of reading it.
func caused(fn string, err error) error {
	var own *tenon.Error
	if err == nil || errors.As(err, &own) {
		return err
	}
	return &tenon.Error{Kind: tenon.ErrInvalid, Op: fn, Err: err, Line: source.Line()}
}

// tables makes tables from inputs, one after the other.
type tables struct {
	o    *Options
	r    *Report
	rows int // rows of a table, or 0 for all
	t    *table
}

// input reads the records of an input and calls give for each full table.
func (x *tables) input(in input.Input, give func() bool) error {
	var src io.ReadCloser
	if in.Open != nil {
		var err error
		if src, err = in.Open(); err != nil {
			return err
		}
		src = abort.Reader(x.o.Context, src)
		defer src.Close()
	}
	s := x.o.scanner(src, in)
	b, other := &block{}, &block{}
	err := s.next(b, -1, 1)
	for err == nil && len(b.lines) == 0 { // blank lines
		err = s.next(b, -1, 1)
	}
	if err == io.EOF {
		return nil
	}
	if err != nil {
		return err
	}
	if x.t == nil {
		x.t = x.o.table(b)
	} else if e := same(x.t, b, x.o); e != nil {
		return e
	}
	if !x.o.NoHeader {
		err = x.next(s, b)
	}
	for reserved := false; ; {
		var ahead error
		read := err == nil && x.rows == 0 // a table of limited size should not wait for further text
		x.t.take(b, x.o, func() {
			if read {
				ahead = x.next(s, other)
			}
		})
		for _, e := range b.skipped {
			x.t.name(e)
		}
		x.r.Skipped = append(x.r.Skipped, b.skipped...)
		if left := in.Size + int64(len(in.Data)) - int64(len(b.text)); !reserved && x.rows == 0 && len(b.lines) > 0 && left > blockSize {
			reserved = true
			for _, c := range x.t.cols {
				c.reserve(1.02 * float64(left) / float64(len(b.text)))
			}
		}
		if err != nil {
			if err == io.EOF {
				return nil
			}
			var e *Error
			if errors.As(err, &e) {
				x.t.name(e)
			}
			return err
		}
		if x.rows > 0 && len(x.t.lines) == x.rows && !give() {
			return nil
		}
		if read {
			b, other, err = other, b, ahead
		} else {
			err = x.next(s, b)
		}
	}
}

// next reads the next block of records.
func (x *tables) next(s *scanner, b *block) error {
	if err := abort.Done(x.o.Context); err != nil {
		b.reset()
		return err
	}
	rows := math.MaxInt
	if x.rows > 0 {
		rows = x.rows - len(x.t.lines)
	}
	return s.next(b, len(x.t.cols), rows)
}

// scanner returns a scanner of the text, after skipping a byte order mark.
func (o *Options) scanner(src io.Reader, in input.Input) *scanner {
	s := &scanner{name: in.Name, data: in.Data, ended: true, delim: o.Delim, quote: o.Quote, comment: o.Comment, lenient: o.Lenient, line: 1}
	if s.delim == 0 {
		s.delim = ','
	}
	if s.quote == 0 {
		s.quote = '"'
	}
	if o.NoQuotes {
		s.quote = 0
	}
	if in.Open != nil {
		head := make([]byte, 3)
		n, err := io.ReadFull(src, head)
		s.from, s.data = src, head[:n]
		s.ended = err == io.EOF || err == io.ErrUnexpectedEOF
	}
	s.data = bytes.TrimPrefix(s.data, []byte("\xef\xbb\xbf"))
	return s
}

// table returns an empty table with the columns given by the first record.
func (o *Options) table(first *block) *table {
	names := make([]string, len(first.spans))
	if !o.NoHeader {
		for i := range names {
			b, _ := first.field(i)
			names[i] = string(b)
		}
	}
	t := &table{}
	for _, name := range colname.Filled(names) {
		c := &column{name: name, typ: o.Types[name]}
		c.given = c.typ != ""
		t.cols = append(t.cols, c.begun())
	}
	return t
}

// same returns an error if the header of a further input has different columns.
func same(t *table, first *block, o *Options) error {
	for i, c := range o.table(first).cols {
		if len(first.spans) != len(t.cols) || c.name != t.cols[i].name {
			return fail(tenon.ErrInvalid, "csvio.Read", c.name, "the columns differ from those of the first file")
		}
	}
	return nil
}
