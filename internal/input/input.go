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

// An Input is one piece of data to read.
type Input struct {
	Name string // name for errors
	Data []byte // the data, if Open is nil

	// Open returns the uncompressed data.
	Open func() (io.ReadCloser, error)

	Size int64 // number of bytes that Open returns, or 0 if unknown
	Once bool  // Open can be called only once
}

// Bytes returns an input of b, which must not change.
func Bytes(b []byte) Input {
	if !compressed(b) {
		return Input{Data: b}
	}
	return Input{Open: func() (io.ReadCloser, error) { return expand(io.NopCloser(bytes.NewReader(b))) }}
}

// Reader returns an input that reads from r, once.
func Reader(name string, r io.Reader) Input {
	return Input{Name: name, Once: true, Open: func() (io.ReadCloser, error) { return expand(io.NopCloser(r)) }}
}

// File returns an input of the contents of a file.
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

// Glob returns the names of the files that match any of the patterns, in the form of
// [filepath.Match], sorted and without duplicates. A pattern that is the name of an existing file
// stands for itself, whatever characters it contains. A pattern without matches is an error that is
// fs.ErrNotExist.
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
			return nil, fmt.Errorf("%q matches no files: %w", p, fs.ErrNotExist)
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

// maxWindow limits the memory that a zstd file may require.
const maxWindow = 1 << 27

// expand decompresses a file if it is compressed.
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

// opened reads from one object and closes another.
type opened struct {
	io.Reader
	close func() error
}

func (o *opened) Close() error { return o.close() }
