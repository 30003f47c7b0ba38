package abort

import (
	"context"
	"io"
)

// size is how many bytes are read at a time.
const size = 256 << 10

// Reader returns a reader of what r reads, whose Read ends as soon as the context does,
// with its cause as the error. A Read of r that hangs is left to end by itself; it
// writes to memory of its own, and r is closed when it has ended. A nil context, or one
// that cannot end, costs nothing.
func Reader(ctx context.Context, r io.ReadCloser) io.ReadCloser {
	if ctx == nil || ctx.Done() == nil {
		return r
	}
	return &reader{ctx: ctx, from: r}
}

type reader struct {
	ctx     context.Context
	from    io.ReadCloser
	buf     []byte      // the memory of reads, nil while one goes on
	have    []byte      // of buf, what has been read and not passed on
	err     error       // what came behind it
	pending chan result // the read that goes on, nil for none
}

type result struct {
	buf []byte
	n   int
	err error
}

// Read reads what the reader has.
func (r *reader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	if len(r.have) == 0 && r.err == nil && len(p) > 0 {
		if err := r.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.have)
	if r.have = r.have[n:]; len(r.have) > 0 {
		return n, nil
	}
	return n, r.err
}

// fill waits for a read, or for the end of the context.
func (r *reader) fill() error {
	if r.pending == nil {
		buf, done := r.buf, make(chan result, 1)
		if buf == nil {
			buf = make([]byte, size)
		}
		r.buf, r.pending = nil, done
		go func() {
			n, err := r.from.Read(buf)
			done <- result{buf, n, err}
		}()
	}
	select {
	case x := <-r.pending:
		r.pending, r.buf, r.have, r.err = nil, x.buf, x.buf[:x.n], x.err
		return nil
	case <-r.ctx.Done():
		return context.Cause(r.ctx)
	}
}

// Close closes the reader, once a read that hangs has ended.
func (r *reader) Close() error {
	if r.pending == nil {
		return r.from.Close()
	}
	go func() {
		<-r.pending
		r.from.Close() // nobody waits for the error
	}()
	return nil
}

// Done returns why a context has ended, and nil while it has not. A nil context does not
// end.
func Done(ctx context.Context) error {
	if ctx == nil || ctx.Err() == nil {
		return nil
	}
	return context.Cause(ctx)
}

// Writer returns a writer to w that refuses to write once a context has ended.
func Writer(ctx context.Context, w io.Writer) io.Writer {
	if ctx == nil || ctx.Done() == nil {
		return w
	}
	return &writer{ctx, w}
}

type writer struct {
	ctx context.Context
	w   io.Writer
}

// Write writes, or returns why the context has ended.
func (w *writer) Write(b []byte) (int, error) {
	if err := Done(w.ctx); err != nil {
		return 0, err
	}
	return w.w.Write(b)
}
