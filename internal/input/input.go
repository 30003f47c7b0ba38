package input

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// An Input is one piece of bytes to read.
type Input struct {
	Name string // for errors
	Data []byte // all of it, where Open is nil

	// Open returns the bytes, without their compression.
	Open func() (io.ReadCloser, error)

	Size int64 // bytes that Open gives, 0 where that is not known
	Once bool  // Open can be called once
}

// Bytes returns the input b, which must not change.
func Bytes(b []byte) Input {
	if !compressed(b) {
		return Input{Data: b}
	}
	return Input{Open: func() (io.ReadCloser, error) { return expand(io.NopCloser(bytes.NewReader(b))) }}
}

// Reader returns what r reads, once.
func Reader(name string, r io.Reader) Input {
	return Input{Name: name, Once: true, Open: func() (io.ReadCloser, error) { return expand(io.NopCloser(r)) }}
}

// File returns what is in a file.
func File(name string) Input {
	in := Input{Name: name, Open: func() (io.ReadCloser, error) {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		return expand(f)
	}}
	st, err := os.Stat(name)
	if err == nil && st.Mode().IsRegular() && !compressedFile(name) {
		in.Size = st.Size()
	}
	in.Once = err == nil && !st.Mode().IsRegular()
	return in
}

// Glob returns the names of the files that match one of some patterns, as
// [filepath.Match] has them, sorted and each once. A name that is there stands for
// itself, whatever characters it has. A pattern that nothing matches is an error
// that is fs.ErrNotExist.
func Glob(patterns ...string) ([]string, error) {
	var all []string
	for _, p := range patterns {
		if _, err := os.Lstat(p); err == nil {
			all = append(all, p)
			continue
		}
		names, err := filepath.Glob(p)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", p, err)
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("%q: no file has such a name: %w", p, fs.ErrNotExist)
		}
		all = append(all, names...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
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
