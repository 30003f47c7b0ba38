package abort

import (
	"context"
	"io"
)

// size is the number of bytes read at a time.
const size = 256 << 10

// Reader returns a reader of r's data whose Read returns as soon as the context ends, with its
// cause as the error. A Read of r that hangs is abandoned; it writes to memory of its own, and r is
// closed when it returns. A nil context, or one that cannot end, costs nothing.
func Reader(ctx context.Context, r io.ReadCloser) io.ReadCloser {
	if ctx == nil || ctx.Done() == nil {
		return r
	}
	return &reader{ctx: ctx, from: r}
}

type reader struct {
	ctx     context.Context
	from    io.ReadCloser
	buf     []byte      // buffer of reads, nil while a read is in progress
	have    []byte      // unread part of buf
	err     error       // error that follows have
	pending chan result // the read in progress, or nil
}

type result struct {
	buf []byte
	n   int
	err error
}

// Read returns data of the underlying reader, or the cause of the context's end.
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

// fill waits for a read to finish or for the context to end.
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

// Close closes the underlying reader, after a read that hangs has returned.
func (r *reader) Close() error {
	if r.pending == nil {
		return r.from.Close()
	}
	go func() {
		<-r.pending
		r.from.Close() // nobody is left to handle the error
	}()
	return nil
}

// Done returns the cause of the context's end, or nil if it has not ended. A nil context never
// ends.
func Done(ctx context.Context) error {
	if ctx == nil || ctx.Err() == nil {
		return nil
	}
	return context.Cause(ctx)
}

// Writer returns a writer to w that fails once the context has ended.
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

// Write writes b, or returns the cause of the context's end.
func (w *writer) Write(b []byte) (int, error) {
	if err := Done(w.ctx); err != nil {
		return 0, err
	}
	return w.w.Write(b)
}
