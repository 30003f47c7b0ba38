package jsoncol

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"strings"
)

// An Input is one piece of JSON text. Records do not go on from one input to
// the next.
type Input struct {
	// Name is for error messages.
	Name string
	// Data is the text, if Open is nil.
	Data []byte
	// Open returns the text. It is called when the input's turn comes, and what it
	// returns is closed.
	Open func() (io.ReadCloser, error)
	// Size is how many bytes Open's text has, or 0 if that is not known. It helps
	// to choose the size of buffers, and is the total for Progress.
	Size int64
	// Once says that Open can be called once.
	Once bool
}

// size returns the bytes of the input, -1 if that is not known.
func (in *Input) size() int64 {
	switch {
	case in.Open == nil:
		return int64(len(in.Data))
	case in.Size > 0:
		return in.Size
	}
	return -1
}

// FromBytes returns the Input whose text is b. A reader does not change b, and
// keeps nothing of it.
func FromBytes(b []byte) Input { return Input{Data: b} }

// FromReader returns the Input that r gives. It can be read once.
func FromReader(name string, r io.Reader) Input {
	return Input{Name: name, Once: true, Open: func() (io.ReadCloser, error) { return io.NopCloser(r), nil }}
}

// FromFile returns the Input in the file called name, which may be compressed
// with gzip.
func FromFile(name string) Input {
	in := Input{Name: name, Open: func() (io.ReadCloser, error) { return openFile(name) }}
	if st, err := os.Stat(name); err == nil && st.Mode().IsRegular() && !strings.HasSuffix(name, ".gz") {
		in.Size = st.Size()
	}
	return in
}

// openFile opens a file. Whether it is compressed is seen from its first bytes,
// which no JSON text begins with.
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
