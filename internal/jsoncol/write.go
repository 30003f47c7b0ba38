package jsoncol

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/tenonml/tenon/internal/abort"
)

// NonFinite is the policy for writing NaN and infinities, which JSON cannot represent.
type NonFinite uint8

// The policies for numbers that are not finite.
const (
	NonFiniteError   NonFinite = iota
	NonFiniteNull              // null
	NonFiniteLiteral           // NaN, Infinity, -Infinity, which can be read with Options.NonFinite
)

// WriteOptions control writing. The zero value writes JSON lines.
type WriteOptions struct {
	// Array writes one JSON array of the rows instead of one line for each row.
	Array bool
	// OmitMissing omits missing fields from their objects. Otherwise, and for values that are not
	// fields, a missing value is null.
	OmitMissing bool
	NonFinite   NonFinite
	// Unicode is the policy for strings that are not UTF-8.
	Unicode Unicode
	// Context ends writing, with its cause as the error, before the next piece of about 256 KiB.
	Context context.Context
	// Workers is the number of goroutines that format; 0 means GOMAXPROCS.
	Workers int
}

// Write writes the rows of c to w in compact form: without white space, fields in the order of the
// columns, and only those characters escaped that must be. Numbers are written as encoding/json
// writes them (the shortest form that is parsed as the same number), with ".0" after floats that
// are whole, so that their type is preserved. The same columns give the same bytes. w is written in
// order, by one goroutine at a time.
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

// Append appends the rows [lo, hi) of c to dst as Write would write them, but without the brackets
// of an array.
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

// writeSize is the approximate number of bytes written at a time.
const writeSize = 256 << 10

// rowsPerWrite estimates the number of rows that take writeSize bytes, from the size of the
// columns.
func rowsPerWrite(c *Column) int {
	perRow := 1 + c.Size()/int64(max(1, c.Len))
	return max(1, int(writeSize/perRow))
}

// output is one call of Write. Workers take ranges of rows, format them into buffers of their own,
// and write them in turn.
type output struct {
	w    io.Writer
	root *source
	o    *WriteOptions
	rows int
	step int
	size int // initial size of a buffer

	mu     sync.Mutex
	turned sync.Cond
	taken  int // number of rows taken by workers
	turn   int // first row of the range to be written next
	err    error
}

// take returns the next range of rows, or an empty one if there are no more.
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
