package jsoncol

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"strings"
)

// An Input is one piece of JSON text. Records do not extend from one input to the next.
type Input struct {
	// Name appears in error messages.
	Name string
	// Data is the text, if Open is nil.
	Data []byte
	// Open returns the text. It is called when it is the input's turn, and its result is closed.
	Open func() (io.ReadCloser, error)
	// Size is the number of bytes that Open returns, or 0 if that is not known. It is used to
	// choose buffer sizes, and as the total for Progress.
	Size int64
	// Once says that Open can be called only once.
	Once bool
}

// size returns the size of the input in bytes, or -1 if that is not known.
func (in *Input) size() int64 {
	switch {
	case in.Open == nil:
		return int64(len(in.Data))
	case in.Size > 0:
		return in.Size
	}
	return -1
}

// FromBytes returns an Input whose text is b. A reader neither modifies nor retains b.
func FromBytes(b []byte) Input { return Input{Data: b} }

// FromReader returns an Input that reads from r. It can be read only once.
func FromReader(name string, r io.Reader) Input {
	return Input{Name: name, Once: true, Open: func() (io.ReadCloser, error) { return io.NopCloser(r), nil }}
}

// FromFile returns an Input for the file called name, which may be compressed with gzip.
func FromFile(name string) Input {
	in := Input{Name: name, Open: func() (io.ReadCloser, error) { return openFile(name) }}
	if st, err := os.Stat(name); err == nil && st.Mode().IsRegular() && !strings.HasSuffix(name, ".gz") {
		in.Size = st.Size()
	}
	return in
}

// openFile opens a file. It recognises compression by the first bytes, which no JSON text begins
// with.
func openFile(name string) (io.ReadCloser, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	var magic [2]byte
	n, err := io.ReadFull(f, magic[:])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, errors.Join(err, f.Close())
	}
	var r io.Reader = io.MultiReader(bytes.NewReader(magic[:n]), f)
	if n == 2 && magic == [2]byte{0x1f, 0x8b} {
		if r, err = gzip.NewReader(r); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return &readCloser{r, f}, nil
}

// readCloser reads from one and closes the other.
type readCloser struct {
	io.Reader
	io.Closer
}
