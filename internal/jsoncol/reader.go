package jsoncol

import (
	"bytes"
	"errors"
	"runtime"
	"sync"
)

var errLenient = errors.New("the option Lenient requires the format Lines, in which the next record can be found")

// A reader is one pass over inputs. The fields below mu belong to the worker whose chunk has its
// turn.
type reader struct {
	o      *Options
	feed   *feed
	merger merger
	batch  int // rows of a batch, 0 for a single batch

	mu      sync.Mutex
	turned  sync.Cond
	turn    int64 // number of the chunk whose turn it is
	err     error
	schema  *Schema
	want    *paths
	elected bool // lenient: the types have been elected by majority
	version int

	sink      *sink
	effort    int64 // number of further columns that lenient inference may examine
	rows      int64 // rows appended so far
	lines     int64 // line breaks before the chunk, in its input
	lineStart int64 // position in the input of the line in which the chunk begins
	skipped   int64
	bad       []*Error
	out       func(*Table) bool // receives batches; false means stop
}

// newReader checks the options and returns a reader for inputs.
func newReader(inputs []Input, o Options) (*reader, error) {
	if o.MaxDepth <= 0 {
		o.MaxDepth = defaultMaxDepth
	}
	if o.MaxBad <= 0 {
		o.MaxBad = defaultMaxBad
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.ChunkSize <= 0 {
		o.ChunkSize = defaultChunkSize
	}
	if o.MaxColumns <= 0 {
		o.MaxColumns = defaultMaxColumns
	}
	o.ChunkSize = max(o.ChunkSize, len(bom))
	if o.Lenient && o.Schema == nil {
		o.ChunkSize = max(o.ChunkSize, defaultChunkSize) // enough records for a majority
	}
	if o.Lenient && o.Format != Lines && o.Format != Auto {
		return nil, errLenient
	}
	if o.MaxKeys <= 0 {
		o.MaxKeys = defaultMaxKeys
	}
	want := newPaths(&o)
	if o.Schema != nil {
		if err := o.Schema.check("", o.MaxDepth); err != nil {
			return nil, err
		}
	}
	r := &reader{o: &o, feed: newFeed(inputs, &o), schema: o.Schema.request(want, o.Widen), want: want}
	r.turned.L = &r.mu
	r.sink = newSink(r.schema)
	r.merger.gaps = gapsFor(0)
	r.merger.huge = 8 * o.ChunkSize // a list [1,1,…] takes four times as many bytes as its text
	r.effort = 1 << 24
	return r, nil
}

// run reads all the inputs.
func (r *reader) run() error {
	// Process the first chunk alone: it shows how large things are going to be and, in most cases,
	// the whole schema.
	first := r.newWorker()
	if c := r.feed.next(&first.buf); c != nil {
		first.chunk(c)
	}
	var others sync.WaitGroup
	for range r.helpers() {
		others.Go(func() { r.newWorker().run() })
	}
	first.run()
	others.Wait()
	if err := r.feed.close(); err != nil {
		r.stop(err)
	}
	return r.err
}

func (r *reader) newWorker() *worker { return &worker{r: r, p: newParser(r.o)} }

// helpers returns the number of further workers that are useful.
func (r *reader) helpers() int {
	n := r.o.Workers - 1
	if total := r.feed.total; total >= 0 {
		left := (total - r.feed.read + int64(r.o.ChunkSize) - 1) / int64(r.o.ChunkSize)
		n = min(n, max(0, int(left)-1))
	}
	return n
}

// await returns when it is the turn of chunk seq.
func (r *reader) await(seq int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.turn != seq {
		r.turned.Wait()
	}
}

// pass gives the turn to the next chunk.
func (r *reader) pass() {
	r.mu.Lock()
	r.turn++
	r.mu.Unlock()
	r.turned.Broadcast()
}

// current returns the schema found so far and its version.
func (r *reader) current() (*Schema, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.schema, r.version
}

// stop ends the reading with err, unless it has ended already.
func (r *reader) stop(err error) {
	r.mu.Lock()
	if r.err == nil {
		r.err = err
	}
	r.mu.Unlock()
	r.feed.halt()
}

// stopped reports whether the reading has ended early.
func (r *reader) stopped() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err != nil
}

// widen replaces the schema by s. It fails, and changes nothing, if rows that were read lack a
// field of s and the policy requires it.
func (r *reader) widen(s *Schema) *failure {
	if f := r.sink.gap(s, r.o); f != nil {
		return f
	}
	r.mu.Lock()
	r.schema = s
	r.version++
	r.mu.Unlock()
	f := r.merger.widen(r.sink, s, r.o)
	r.merger.resume()
	return f
}

// arrive is called when c's turn begins.
func (r *reader) arrive(c *chunk) {
	if c.first {
		r.lines, r.lineStart = 0, 0
	}
	r.merger.gaps += 16 * int64(len(c.data))
	r.effort += 16 * int64(len(c.data))
}

// leave is called when all of c has been appended.
func (r *reader) leave(c *chunk, at *cursor) {
	if c.format == Lines {
		r.lines += at.lines
	} else {
		r.lines += int64(bytes.Count(c.data, []byte{'\n'}))
		if n := bytes.LastIndexByte(c.data, '\n'); n >= 0 {
			r.lineStart = c.offset + int64(n) + 1
		}
	}
	if r.o.Progress != nil {
		r.o.Progress(c.read, r.feed.total)
	}
}

// locate returns the Error for f, which is in c, in the record row.
func (r *reader) locate(c *chunk, f *failure, row int64) *Error {
	before := c.data[:f.at]
	start := r.lineStart
	if n := bytes.LastIndexByte(before, '\n'); n >= 0 || c.format == Lines {
		start = c.offset + int64(n) + 1
	}
	offset := c.offset + int64(f.at)
	return &Error{
		Code: f.code, Source: c.input.Name, Offset: offset,
		Line: r.lines + int64(bytes.Count(before, []byte{'\n'})) + 1, Column: offset - start + 1,
		Row: row, Path: f.text(), Detail: f.detail,
	}
}

// report takes over the lines that w skipped.
func (r *reader) report(c *chunk, w *worker) {
	r.skipped += w.skipped
	for _, b := range w.bad {
		if len(r.bad) == r.o.MaxBad {
			break
		}
		offset := c.offset + int64(b.fail.at)
		r.bad = append(r.bad, &Error{
			Code: b.fail.code, Source: c.input.Name, Offset: offset,
			Line: r.lines + b.lines + 1, Column: int64(b.fail.at-b.rec) + 1,
			Row: r.rows + int64(b.row), Path: b.fail.text(), Detail: b.fail.detail,
		})
	}
	w.bad, w.skipped = w.bad[:0], 0
}

// table returns what has been read since the last table.
func (r *reader) table() *Table {
	t := &Table{Column: r.sink.column(), Schema: r.sink.found(nil), Skipped: r.skipped, Bad: r.bad}
	r.skipped, r.bad = 0, nil
	return t
}

// emit passes the rows read so far to out as a batch.
func (r *reader) emit() {
	if !r.out(r.table()) {
		r.stop(errStopped)
	}
	r.sink = newSink(r.schema)
}

var errStopped = errors.New("stopped")

// remap starts over with the object of a failure as a map, because of its keys. It reports whether
// that is possible: nothing has been read yet, or everything can be read again.
func (r *reader) remap(f *failure) bool {
	if !f.keys {
		return false
	}
	want := r.want.clone()
	if f.backfilled {
		f.path = f.path[1:] // the object itself, not the field found in it
	}
	path, ok := want.mapped(f)
	if !ok {
		return false
	}
	r.o.Maps = append(r.o.Maps[:len(r.o.Maps):len(r.o.Maps)], path)
	if r.rows > 0 || r.sink.n > 0 {
		r.stop(&again{r.o.Maps})
		return false
	}
	r.want = want
	r.mu.Lock()
	r.schema = r.o.Schema.request(want, r.o.Widen)
	r.version++
	r.mu.Unlock()
	r.sink = newSink(r.schema)
	return true
}

// again is the error that reading has to start over, with more maps.
type again struct{ maps [][]string }

func (a *again) Error() string {
	return "the keys of an object are data (list its path in Maps, because the input can be read only once)"
}
