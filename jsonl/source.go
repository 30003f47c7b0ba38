package jsonl

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/tenonml/tenon/internal/jsoncol"
)

// A Source is JSON text to read: one or several pieces, none of whose records go on in
// the next. Text that is compressed with gzip or zstd is recognised by its first bytes,
// which no JSON begins with.
type Source struct {
	inputs []jsoncol.Input
	names  []string // of the files, to open again; nil where that is not possible
}

// Bytes returns the text b. It is not changed, and nothing of it is kept.
func Bytes(b []byte) Source {
	if compressed(b) {
		return Source{inputs: []jsoncol.Input{{Open: func() (io.ReadCloser, error) { return expand(io.NopCloser(bytes.NewReader(b))) }}}}
	}
	return Source{inputs: []jsoncol.Input{jsoncol.FromBytes(b)}}
}

// Reader returns the text that r gives, once. The name is for errors.
func Reader(name string, r io.Reader) Source {
	return Source{inputs: []jsoncol.Input{{Name: name, Open: func() (io.ReadCloser, error) { return expand(io.NopCloser(r)) }}}}
}

// Files returns the text in files, one behind the other.
func Files(names ...string) Source {
	s := Source{names: names}
	for _, name := range names {
		in := jsoncol.Input{Name: name, Open: func() (io.ReadCloser, error) {
			f, err := os.Open(name)
			if err != nil {
				return nil, err
			}
			return expand(f)
		}}
		if st, err := os.Stat(name); err == nil && st.Mode().IsRegular() && !compressedFile(name) {
			in.Size = st.Size()
		}
		s.inputs = append(s.inputs, in)
	}
	return s
}

// Join returns the text of several sources, one behind the other.
func Join(sources ...Source) Source {
	var s Source
	for _, x := range sources {
		s.inputs = append(s.inputs, x.inputs...)
	}
	return s
}

var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

func compressed(b []byte) bool {
	return bytes.HasPrefix(b, gzipMagic) || bytes.HasPrefix(b, zstdMagic)
}

func compressedFile(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	var b [4]byte
	n, _ := io.ReadFull(f, b[:]) // a short file is not compressed
	return compressed(b[:n])
}

// maxWindow bounds the memory that a zstd file may ask for.
const maxWindow = 1 << 27

// expand undoes compression, where there is any.
func expand(f io.ReadCloser) (io.ReadCloser, error) {
	b := bufio.NewReaderSize(f, 1<<16)
	head, err := b.Peek(4)
	if err != nil && err != io.EOF {
		return nil, errors.Join(err, f.Close())
	}
	switch {
	case bytes.HasPrefix(head, gzipMagic):
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return &opened{z, f.Close}, nil
	case bytes.HasPrefix(head, zstdMagic):
		z, err := zstd.NewReader(b, zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return &opened{z, func() error { z.Close(); return f.Close() }}, nil
	}
	return &opened{b, f.Close}, nil
}

// opened reads from one thing and closes another.
type opened struct {
	io.Reader
	close func() error
}

func (o *opened) Close() error { return o.close() }
