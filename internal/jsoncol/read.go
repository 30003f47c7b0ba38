package jsoncol

import (
	"iter"
	"slices"
)

// A Table is the result of reading.
type Table struct {
	// Column has a row for each record, in order. It is a Struct if the records are objects.
	Column *Column
	// Schema is the type of Column, including what was inferred from the data. It may be passed to
	// another reader, which then accepts the same types and nothing else; columns in which values
	// were missing have MissingMasked.
	Schema *Schema
	// Skipped is the number of lines that lenient reading skipped, and Bad describes the first of
	// them.
	Skipped int64
	Bad     []*Error
}

// Read reads the records of all inputs, one after the other. An error in the text is an *Error.
func Read(inputs []Input, o Options) (*Table, error) {
	for {
		r, err := newReader(inputs, o)
		if err != nil {
			return nil, err
		}
		err = r.run()
		if err == nil {
			return r.table(), nil
		}
		if !o.repeat(inputs, err) {
			return nil, err
		}
	}
}

// repeat reports whether an error means that reading has to start over, and whether it can; if so
// it changes the options accordingly.
func (o *Options) repeat(inputs []Input, err error) bool {
	a, ok := err.(*again)
	if !ok || slices.ContainsFunc(inputs, func(in Input) bool { return in.Once }) {
		return false
	}
	o.Maps = a.maps
	return true
}

// ReadBytes reads the records in b.
func ReadBytes(b []byte, o Options) (*Table, error) { return Read([]Input{FromBytes(b)}, o) }

// ReadFile reads the records in the file called name.
func ReadFile(name string, o Options) (*Table, error) { return Read([]Input{FromFile(name)}, o) }

// Batches reads the records of all inputs as tables of the given number of rows; the last table may
// have fewer. The next tables are parsed while one is being used. There are no more tables after an
// error.
//
// If types are inferred, the schema of a table covers all input up to that point: it may be wider
// than that of the preceding table.
func Batches(inputs []Input, rows int, o Options) iter.Seq2[*Table, error] {
	return func(yield func(*Table, error) bool) {
		given := 0
		for {
			err := batches(inputs, rows, o, func(t *Table) bool {
				given++
				return yield(t, nil)
			})
			if err == nil {
				return
			}
			if given > 0 || !o.repeat(inputs, err) {
				yield(nil, err)
				return
			}
		}
	}
}

// batches reads inputs once, and calls yield with each table.
func batches(inputs []Input, rows int, o Options, yield func(*Table) bool) error {
	r, err := newReader(inputs, o)
	if err != nil {
		return err
	}
	tables, quit := make(chan *Table), make(chan struct{})
	r.batch = max(1, rows)
	r.out = func(t *Table) bool {
		select {
		case tables <- t:
			return true
		case <-quit:
			return false
		}
	}
	go func() {
		defer close(tables)
		if r.run() == nil && (r.sink.n > 0 || r.skipped > 0) {
			r.out(r.table())
		}
	}()
	defer func() {
		close(quit)
		for range tables { // drain, until the workers have ended
		}
	}()
	for t := range tables {
		if !yield(t) {
			return nil
		}
	}
	return r.err
}
