package parquetio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/arrowio"
	"github.com/tenonml/tenon/internal/input"
	"github.com/tenonml/tenon/internal/source"
)

// A File provides the row groups of one or several files by number, in any order. It is safe for
// concurrent use.
//
//	f, err := parquetio.Open("events-*.parquet", parquetio.ReadOptions{Columns: []string{"jets.pt"}})
//	defer f.Close()
//	groups := dataset.FromFunc(f.Len(), f.At)
type File struct {
	o      ReadOptions
	parts  []*part
	groups []place
	set    *arrow.Schema
}

// place identifies a row group, and which of its rows are read.
type place struct {
	part, group int
	some        []span // nil means all rows
}

// part is one file.
type part struct {
	name  string
	src   io.ReaderAt
	close func() error
	size  int64
	meta  *footer
	cols  []*node
}

// ReadFile reads a file as one Value.
func ReadFile(name string, o ReadOptions) (tenon.Value, error) {
	const fn = "parquetio.ReadFile"
	f := &File{o: o}
	if err := f.add(fn, name); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	v, err := f.Read()
	return v, errors.Join(err, f.Close())
}

// Decode reads the bytes of a file as one Value.
func Decode(b []byte, o ReadOptions) (tenon.Value, error) {
	f := &File{o: o}
	if err := f.open("parquetio.Decode", &part{src: bytes.NewReader(b), size: int64(len(b)), close: func() error { return nil }}); err != nil {
		return nil, err
	}
	return f.Read()
}

// Open opens the files whose names match a pattern, in the form of filepath.Match, sorted by name.
// They must have the same columns.
func Open(pattern string, o ReadOptions) (*File, error) {
	const fn = "parquetio.Open"
	names, err := input.Glob(pattern)
	if err != nil {
		return nil, unread(fn, pattern, err)
	}
	f := &File{o: o}
	for _, name := range names {
		if err := f.add(fn, name); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return f, nil
}

// unread returns the error for a file that cannot be opened.
func unread(fn, name string, err error) error {
	kind := tenon.ErrInvalid
	if errors.Is(err, fs.ErrNotExist) {
		kind = tenon.ErrNotFound
	}
	return &tenon.Error{Kind: kind, Op: fn, Where: name, Err: err, Line: source.Line()}
}

// add opens a file.
func (f *File) add(fn, name string) error {
	src, err := os.Open(name)
	if err != nil {
		return unread(fn, name, err)
	}
	st, err := src.Stat()
	if err != nil {
		return unread(fn, name, errors.Join(err, src.Close()))
	}
	return f.open(fn, &part{name: name, src: src, size: st.Size(), close: src.Close})
}

// open reads the footer of a file, and adds the row groups to read.
func (f *File) open(fn string, p *part) (err error) {
	f.parts = append(f.parts, p)
	name := p.name
	defer recovered(fn, name, &err)
	defer tenon.Catch(&err)
	var sealed *algorithm
	if p.meta, sealed, err = readFooter(p.src, p.size, f.o.Keys); err != nil {
		return damaged(fn, name, err)
	}
	t := &tree{set: p.meta.columns, fn: fn}
	all := t.children(p.meta.root, 0, 0, 0)
	if sealed != nil {
		fields := make([]arrow.Field, len(all))
		for i, n := range all {
			fields[i] = n.field()
		}
		p.meta.unseal(sealed, f.o.Keys, leafPaths(fields))
	}
	p.cols = t.chosen(all, f.o.Columns)
	set := p.schema(f.o)
	if f.set == nil {
		f.set = set
	} else if !sameFields(set, f.set) {
		return fail(tenon.ErrDType, fn, name, "the columns differ from those of %s", f.parts[0].name)
	}
	where := make([]*condition, len(f.o.Where))
	for i, w := range f.o.Where {
		where[i] = t.condition(all, w)
	}
	for i := range p.meta.groups {
		if slices.ContainsFunc(where, func(c *condition) bool { return !c.inGroup(p.meta, i) }) {
			continue
		}
		at := place{part: len(f.parts) - 1, group: i}
		rows, less, err := p.inPages(i, where)
		if err != nil {
			return damaged(fn, f.where(at), err)
		}
		if less {
			at.some = rows
		}
		if !less || len(rows) > 0 {
			f.groups = append(f.groups, at)
		}
	}
	return nil
}

// checkChunk returns the chunk of a column, after checking that it lies within the file.
func (p *part) checkChunk(group, leaf int) (*chunkAt, error) {
	c := &p.meta.groups[group].chunks[leaf]
	if c.secret != nil && c.secret.err != nil {
		return nil, c.secret.err
	}
	if c.file != "" {
		return nil, fmt.Errorf("the column is in another file, %q", c.file)
	}
	if c.dict < 0 || c.dict > p.size-8 {
		return nil, fmt.Errorf("the dictionary is at byte %d, in a file of %d bytes", c.dict, p.size)
	}
	if at, n := c.at(); at < 4 || n < 0 || at > p.size-8 || n > p.size-8-at || c.entries < 0 {
		return nil, fmt.Errorf("the column chunk has %d values in %d bytes from byte %d on, in a file of %d bytes", c.entries, n, at, p.size)
	}
	return c, nil
}

// sameFields reports whether two files have the same columns.
func sameFields(a, b *arrow.Schema) bool {
	if a.NumFields() != b.NumFields() {
		return false
	}
	for i, f := range a.Fields() {
		if g := b.Field(i); f.Name != g.Name || !arrow.TypeEqual(f.Type, g.Type) {
			return false
		}
	}
	return true
}

// schema returns the columns to read, with their Specs in the metadata.
func (p *part) schema(o ReadOptions) *arrow.Schema {
	fields := make([]arrow.Field, len(p.cols))
	for i, n := range p.cols {
		fields[i] = n.field()
		if text, ok := p.meta.about[keyColumn+n.name]; ok && o.Columns == nil && !o.Plain {
			fields[i].Metadata = unpacked(text)
		}
	}
	if text, ok := p.meta.about[keySchema]; ok && o.Columns == nil && !o.Plain {
		md := unpacked(text)
		return arrow.NewSchema(fields, &md)
	}
	return arrow.NewSchema(fields, nil)
}

// Len returns the number of row groups to read.
func (f *File) Len() int64 { return int64(len(f.groups)) }

// Rows returns the number of rows to read from a row group.
func (f *File) Rows(i int64) int64 { return f.rows(f.groups[i]) }

func (f *File) rows(g place) int64 {
	if g.some != nil {
		return total(g.some)
	}
	return f.parts[g.part].meta.groups[g.group].rows
}

// Schema returns the columns to read, with their types, units and zones in the file.
func (f *File) Schema() *arrow.Schema { return f.set }

// At returns row group i as a Value.
func (f *File) At(i int64) (tenon.Value, error) {
	const fn = "parquetio.File.At"
	if i < 0 || i >= f.Len() {
		return nil, fail(tenon.ErrNotFound, fn, fmt.Sprint(i), "there are %d row groups", f.Len())
	}
	b, err := f.batch(fn, f.groups[i:i+1])
	if err != nil {
		return nil, err
	}
	v, err := arrowio.FromRecord(b, arrowio.ReadOptions{Plain: f.o.Plain, Context: f.o.Context})
	return v, damaged(fn, f.where(f.groups[i]), err)
}

// Where describes row group i: the file, and its number there.
func (f *File) Where(i int64) string { return f.where(f.groups[i]) }

// where describes a row group.
func (f *File) where(g place) string {
	at := fmt.Sprintf("row group %d", g.group)
	if name := f.parts[g.part].name; name != "" {
		return name + ": " + at
	}
	return at
}

// All returns the row groups in order. An error comes last.
func (f *File) All() iter.Seq2[tenon.Value, error] {
	return func(yield func(tenon.Value, error) bool) {
		for i := range f.Len() {
			if v, err := f.At(i); !yield(v, err) || err != nil {
				return
			}
		}
	}
}

// Read returns all row groups as one Value.
func (f *File) Read() (tenon.Value, error) {
	const fn = "parquetio.File.Read"
	if f.set == nil {
		return nil, fail(tenon.ErrInvalid, fn, "", "the file is closed")
	}
	var list []arrow.RecordBatch
	for i := 0; i < len(f.groups); {
		k := i + 1
		for k < len(f.groups) && f.groups[k].part == f.groups[i].part {
			k++
		}
		b, err := f.batch(fn, f.groups[i:k])
		if err != nil {
			return nil, err
		}
		list, i = append(list, b), k
	}
	if len(list) == 1 {
		v, err := arrowio.FromRecord(list[0], arrowio.ReadOptions{Plain: f.o.Plain, Context: f.o.Context})
		return v, damaged(fn, f.parts[f.groups[0].part].name, err)
	}
	set := f.set
	if len(list) > 0 {
		set = list[0].Schema()
	}
	v, err := arrowio.FromTable(array.NewTableFromRecords(set, list), arrowio.ReadOptions{Plain: f.o.Plain, Context: f.o.Context})
	return v, damaged(fn, "", err)
}

// Close closes the files.
func (f *File) Close() error {
	var errs []error
	for _, p := range f.parts {
		errs = append(errs, p.close())
		p.close = func() error { return nil }
	}
	return errors.Join(errs...)
}
