package arrowio

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"runtime/debug"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/filemap"
	"github.com/tenonml/tenon/internal/input"
	"github.com/tenonml/tenon/internal/source"
)

// ReadFile reads a file, in the file or the streaming format, as a single Value that does not share
// memory with the file. Of an uncompressed file, only the requested columns are read.
func ReadFile(name string, o ReadOptions) (v tenon.Value, err error) {
	const fn = "arrowio.ReadFile"
	b, unmap, err := filemap.Open(name)
	if err != nil {
		return nil, unread(fn, name, err)
	}
	defer func() { err = errors.Join(err, unmap()) }()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // another process may truncate a mapped file
	v, err = func() (v tenon.Value, err error) {
		defer recovered(fn, &err)
		defer tenon.Catch(&err)
		r := newReading(fn, o, int64(len(b)))
		r.mapped = b
		return r.all(b), nil
	}()
	if err != nil {
		return nil, inFile(fn, name, err)
	}
	return v, nil
}

// unread returns the error for a file that cannot be opened.
func unread(fn, name string, err error) error {
	kind := tenon.ErrInvalid
	if errors.Is(err, fs.ErrNotExist) {
		kind = tenon.ErrNotFound
	}
	return &tenon.Error{Kind: kind, Op: fn, Where: name, Err: err, Line: source.Line()}
}

// inFile returns an error with the name of the file.
func inFile(fn, name string, err error) error {
	e := *tenon.AsError(err)
	e.Op = fn
	if e.Where = name + ": " + e.Where; e.Where == name+": " {
		e.Where = name
	}
	return &e
}

// A File provides the record batches of one or several files by number, in any order. It is
// safe for concurrent use. The files are mapped into memory: data is read only when it is
// requested, and columns that are not requested are never read.
//
//	f, err := arrowio.Open("events-*.arrow", arrowio.ReadOptions{Columns: []string{"jets.pt"}})
//	defer f.Close()
//	for batch, err := range f.All() { … }
//
// Values share the memory of uncompressed files: unless ReadOptions.Copy is set, they must not
// be used after Close, and the files must not be modified or truncated.
type File struct {
	o     ReadOptions
	parts []*filePart
	first []int64 // number of the first batch of each part, and the total number of batches
}

// filePart is one mapped file.
type filePart struct {
	name  string
	b     []byte
	unmap func() error
	foot  *footer
	set   *arrow.Schema

	mu sync.Mutex
	m  *messages
	x  *ipc.Reader // has read all dictionaries once m has no more blocks of them
	r  *reading    // reading of x
}

// Open opens the files whose names match a pattern, in the form of filepath.Match, sorted by name.
// They must be in the file format and have the same columns.
func Open(pattern string, o ReadOptions) (f *File, err error) {
	const fn = "arrowio.Open"
	names, err := input.Glob(pattern)
	if err != nil {
		return nil, unread(fn, pattern, err)
	}
	f = &File{o: o, first: []int64{0}}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	for _, name := range names {
		b, unmap, err := filemap.Open(name)
		if err != nil {
			return f, unread(fn, name, err)
		}
		p := &filePart{name: name, b: b, unmap: unmap}
		f.parts = append(f.parts, p)
		if err := p.open(fn, o); err != nil {
			return f, inFile(fn, name, err)
		}
		if a := f.parts[0].set; !p.set.Equal(a) {
			return f, inFile(fn, name, fail(tenon.ErrDType, fn, "", "the columns differ from those of %s: %v, want %v", f.parts[0].name, p.set, a))
		}
		f.first = append(f.first, f.first[len(f.first)-1]+int64(len(p.foot.batches)))
	}
	return f, nil
}

// open reads the footer and the schema.
func (p *filePart) open(fn string, o ReadOptions) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer recovered(fn, &err)
	defer tenon.Catch(&err)
	if !bytes.HasPrefix(p.b, []byte(fileMark)) {
		e := fail(tenon.ErrInvalid, fn, "", "the file is not in the file format of Arrow")
		e.Hint = "to read a stream, use ReadFile or NewReader"
		return e
	}
	if p.foot, err = footerOf(p.b); err != nil {
		return damaged(fn, "", err)
	}
	if err := p.begin(o); err != nil {
		return damaged(fn, "", err)
	}
	p.set = p.x.Schema()
	return nil
}

// begin creates a reader of the batches.
func (p *filePart) begin(o ReadOptions) (err error) {
	p.r = newReading("arrowio.File.At", o, int64(len(p.b)))
	p.m = p.foot.messages(p.b, nil)
	p.m.blocks = p.foot.dictionaries
	p.x, err = ipc.NewReaderFromMessageReader(p.m, ipc.WithAllocator(&limited{r: p.r}))
	return err
}

// batch reads a batch. Dictionaries are read before the first one.
func (p *filePart) batch(i int64, o ReadOptions) (b arrow.RecordBatch, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.x == nil {
		if err := p.begin(o); err != nil {
			return nil, err
		}
	}
	p.r.budget = newReading("", o, int64(len(p.b))).budget
	p.m.blocks = append(p.m.blocks[:len(p.m.blocks):len(p.m.blocks)], p.foot.batches[i])
	if b, err = p.x.Read(); err != nil {
		p.x = nil // the reader cannot continue after an error
		return nil, err
	}
	b.Retain()
	return b, nil
}

// Len returns the number of record batches.
func (f *File) Len() int64 { return f.first[len(f.first)-1] }

// Schema returns the columns and their types.
func (f *File) Schema() *arrow.Schema { return f.parts[0].set }

// At returns record batch i as a Value.
func (f *File) At(i int64) (v tenon.Value, err error) {
	const fn = "arrowio.File.At"
	if i < 0 || i >= f.Len() {
		return nil, fail(tenon.ErrNotFound, fn, fmt.Sprint(i), "there are %d record batches", f.Len())
	}
	k := f.part(i)
	p := f.parts[k]
	if p.b == nil {
		return nil, fail(tenon.ErrInvalid, fn, "", "the file is closed")
	}
	v, err = func() (v tenon.Value, err error) {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer recovered(fn, &err)
		defer tenon.Catch(&err)
		tenon.Throw(damaged(fn, "", proceed(f.o.Context)))
		b, err := p.batch(i-f.first[k], f.o)
		if err != nil {
			return nil, damaged(fn, "", err)
		}
		return newReading(fn, f.o, int64(len(p.b))).batch(b), nil
	}()
	if err != nil {
		return nil, inFile(fn, f.Where(i), err)
	}
	return v, nil
}

// part returns the file that batch i is in.
func (f *File) part(i int64) int {
	k := 0
	for f.first[k+1] <= i {
		k++
	}
	return k
}

// Where describes batch i: the file, and its number there.
func (f *File) Where(i int64) string {
	k := f.part(i)
	return fmt.Sprintf("%s: batch %d", f.parts[k].name, i-f.first[k])
}

// All returns the batches in order. An error comes last.
func (f *File) All() iter.Seq2[tenon.Value, error] {
	return func(yield func(tenon.Value, error) bool) {
		for i := range f.Len() {
			if v, err := f.At(i); !yield(v, err) || err != nil {
				return
			}
		}
	}
}

// Close unmaps the files.
func (f *File) Close() error {
	var errs []error
	for _, p := range f.parts {
		if p.b != nil {
			errs = append(errs, p.unmap())
			p.b = nil
		}
	}
	return errors.Join(errs...)
}
