package abort_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tenonml/tenon/internal/abort"
)

func TestReaderReadsAll(t *testing.T) {
	text := strings.Repeat("0123456789", 100_000)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for name, r := range map[string]io.Reader{
		"whole": strings.NewReader(text), "halves": iotest.HalfReader(strings.NewReader(text)),
		"with the end": iotest.DataErrReader(strings.NewReader(text)),
	} {
		got, err := io.ReadAll(abort.Reader(ctx, io.NopCloser(r)))
		if err != nil || string(got) != text {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	broken := io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(io.ErrClosedPipe))
	if got, err := io.ReadAll(abort.Reader(ctx, io.NopCloser(broken))); string(got) != "abc" || !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %q, %v", got, err)
	}
}

// A pipe that nobody writes to ends with the context, and is closed when its read ends.
func TestReadThatHangsEndsWithTheContext(t *testing.T) {
	r, w := io.Pipe()
	closed := make(chan struct{})
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	x := abort.Reader(ctx, closer{r, func() { close(closed) }})
	go w.Write([]byte("some"))
	got := make([]byte, 10)
	if n, err := x.Read(got); string(got[:n]) != "some" || err != nil {
		t.Errorf("got %q, %v", got[:n], err)
	}
	go cancel(cause)
	if rest, err := io.ReadAll(x); len(rest) > 0 || !errors.Is(err, cause) {
		t.Errorf("got %q, %v", rest, err)
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
	w.Close() // ends the read
	<-closed
	if err := abort.Done(ctx); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
}

type closer struct {
	io.Reader
	close func()
}

func (c closer) Close() error { c.close(); return nil }

func TestWriterEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var b bytes.Buffer
	w := abort.Writer(ctx, &b)
	if _, err := w.Write([]byte("a")); err != nil {
		t.Error(err)
	}
	cancel()
	if _, err := w.Write([]byte("b")); !errors.Is(err, context.Canceled) || b.String() != "a" {
		t.Errorf("%q, %v", b.String(), err)
	}
}
