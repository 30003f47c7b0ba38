package jsoncol

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/tenonml/tenon/internal/abort"
)

// NonFinite says how NaN and the infinities are written, which JSON has no
// notation for.
type NonFinite uint8

// The policies for numbers that are not finite.
const (
	NonFiniteError   NonFinite = iota
	NonFiniteNull              // null
	NonFiniteLiteral           // NaN, Infinity, -Infinity, which Options.NonFinite reads
)

// WriteOptions says how to write. The zero value writes JSON lines.
type WriteOptions struct {
	// Array writes one JSON array of the rows in place of a line for each.
	Array bool
	// OmitMissing leaves missing fields out of their objects. Otherwise, and
	// where there is no key to leave out, a missing value is null.
	OmitMissing bool
	NonFinite   NonFinite
	// Unicode is the policy for strings that are not UTF-8.
	Unicode Unicode
	// Context ends writing with its cause, before the next piece of about 256 KiB.
	Context context.Context
	// Workers is how many goroutines format; 0 is GOMAXPROCS.
	Workers int
}

// Write writes the rows of c to w, compactly: no white space, the fields in the
// order of the columns, numbers as encoding/json writes them (the shortest that
// reads back as the same number) with ".0" behind floats that are whole, so that
// their type comes back too, and only such characters escaped as must be.
// The same columns give the same bytes. w is written to in order, by one
// goroutine at a time.
func Write(w io.Writer, c *Column, o WriteOptions) error {
	root, err := newSource(c, "")
	if err != nil {
		return err
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	out := &output{w: w, root: root, o: &o, rows: c.Len, step: rowsPerWrite(c)}
	out.size = int(min(writeSize+writeSize/4, 2*c.Size()+1024))
	out.turned.L = &out.mu
	if o.Array {
		if _, err := w.Write([]byte{'['}); err != nil {
			return err
		}
	}
	var others sync.WaitGroup
	for range min(o.Workers, (c.Len+out.step-1)/out.step) - 1 {
		others.Go(out.run)
	}
	out.run()
	others.Wait()
	if out.err == nil && o.Array {
		_, out.err = w.Write([]byte("]\n"))
	}
	return out.err
}

// Append appends rows lo to hi of c to dst as Write would write them, except
// for the brackets of an array.
func Append(dst []byte, c *Column, lo, hi int, o WriteOptions) ([]byte, error) {
	if lo < 0 || hi < lo || hi > c.Len {
		return dst, fmt.Errorf("rows %d to %d of a column of %d", lo, hi, c.Len)
	}
	root, err := newSource(c, "")
	if err != nil {
		return dst, err
	}
	f := formatter{o: &o, buf: dst[:cap(dst)], n: len(dst)}
	err = f.rows(root, lo, hi)
	return f.buf[:f.n], err
}

// writeSize is about how many bytes are written at a time.
const writeSize = 256 << 10

// rowsPerWrite returns how many rows make about writeSize bytes, going by the
// size of the columns.
func rowsPerWrite(c *Column) int {
	perRow := 1 + c.Size()/int64(max(1, c.Len))
	return max(1, int(writeSize/perRow))
}

// output is one run of Write. Workers take ranges of rows, format them into
// buffers of their own, and write them in turn.
type output struct {
	w    io.Writer
	root *source
	o    *WriteOptions
	rows int
	step int
	size int // of a buffer, to begin with

	mu     sync.Mutex
	turned sync.Cond
	taken  int // rows that workers have taken
	turn   int // first row of the range to be written next
	err    error
}

// take returns the next range of rows, empty if there are no more.
func (out *output) take() (lo, hi int) {
	out.mu.Lock()
	defer out.mu.Unlock()
	if out.err == nil {
		out.err = abort.Done(out.o.Context)
	}
	if out.err != nil {
		return 0, 0
	}
	lo = out.taken
	hi = min(lo+out.step, out.rows)
	out.taken = hi
	return lo, hi
}

// run formats and writes ranges until there are no more.
func (out *output) run() {
	f := formatter{o: out.o, buf: make([]byte, out.size)}
	for {
		lo, hi := out.take()
		if lo == hi {
			return
		}
		f.n = 0
		err := f.rows(out.root, lo, hi)
		out.mu.Lock()
		for out.turn != lo {
			out.turned.Wait()
		}
		failed := out.err != nil
		out.mu.Unlock()
		if !failed && err == nil {
			_, err = out.w.Write(f.buf[:f.n])
		}
		out.mu.Lock()
		if out.err == nil {
			out.err = err
		}
		out.turn = hi
		out.mu.Unlock()
		out.turned.Broadcast()
	}
}
