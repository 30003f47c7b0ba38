package saved

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strings"

	"github.com/tenonml/tenon/internal/filemap"
	"github.com/tenonml/tenon/internal/relpath"
	"github.com/tenonml/tenon/internal/zipbounds"
)

// A folder is the files of a model that is being read.
type folder interface {
	// open returns a file that is stored as it is, with its size.
	open(name string) (io.ReaderAt, int64, error)
	io.Closer

	// mappings are what gives mapped files free.
	mappings() []func() error
}

// memory is a file, or a part of one, whose bytes are in memory and stay there.
type memory []byte

// ReadAt copies bytes.
func (m memory) ReadAt(b []byte, at int64) (int, error) { return bytes.NewReader(m).ReadAt(b, at) }

// at returns n bytes from a position on, without copying them; those behind them, which
// may be looked at, are within their capacity.
func (m memory) at(from, n int64) ([]byte, bool) {
	if from < 0 || n < 0 || from > int64(len(m)) || n > int64(len(m))-from {
		return nil, false
	}
	return m[from : from+n], true
}

// A directory is a model in a folder.
type directory struct {
	folder *relpath.Folder
	files  []*os.File
	mapped bool
	frees  []func() error
}

func (d *directory) mappings() []func() error { return d.frees }

func (d *directory) open(name string) (io.ReaderAt, int64, error) {
	f, n, err := d.folder.Open(name)
	if err != nil {
		return nil, 0, err
	}
	d.files = append(d.files, f)
	if d.mapped && n > 0 {
		b, free, err := filemap.Bytes(f)
		if err != nil {
			return nil, 0, err
		}
		d.frees = append(d.frees, free)
		return memory(b), int64(len(b)), nil
	}
	return f, n, nil
}

// Close closes the files that were opened.
func (d *directory) Close() error {
	for _, f := range d.files {
		f.Close()
	}
	return d.folder.Close()
}

// An archive is a model in one file.
type archive struct {
	r       io.ReaderAt
	records map[string]*zip.File
	file    *os.File
	frees   []func() error
}

func (a *archive) mappings() []func() error { return a.frees }

// openArchive reads the directory of a ZIP file. Records that are encrypted, overlap, stand
// twice, or have names outside of a folder are refused.
func openArchive(r io.ReaderAt, n int64) (*archive, error) {
	z, err := zipbounds.Open(r, n)
	if err != nil {
		return nil, err
	}
	if z.Comment != "" {
		return nil, errors.New("it has a comment, in which another format may hide")
	}
	a := &archive{r: r, records: map[string]*zip.File{}}
	seen := map[string]bool{}
	for _, f := range z.File {
		if folder, ok := strings.CutSuffix(f.Name, "/"); ok && f.UncompressedSize64 == 0 && relpath.Check(folder) == nil {
			continue // which other programs add
		}
		if err := relpath.Check(f.Name); err != nil {
			return nil, err
		}
		folded := strings.ToLower(f.Name)
		switch {
		case seen[folded]:
			return nil, fmt.Errorf("the record %q stands twice", f.Name)
		case f.Flags&1 != 0:
			return nil, fmt.Errorf("the record %q is encrypted", f.Name)
		case f.Method != zip.Store && f.Method != zip.Deflate:
			return nil, fmt.Errorf("the record %q is compressed by method %d", f.Name, f.Method)
		case !f.Mode().IsRegular():
			return nil, fmt.Errorf("the record %q is no regular file", f.Name)
		case f.Method != zip.Store && f.UncompressedSize64 > maxGrowth*(f.CompressedSize64+minGrowth):
			return nil, fmt.Errorf("the record %q has %d bytes and %d compressed, more than %d times as many", f.Name, f.UncompressedSize64, f.CompressedSize64, maxGrowth)
		}
		seen[folded], a.records[f.Name] = true, f
	}
	return a, nil
}

// maxGrowth bounds how much a compressed record grows, and with that what an archive takes in
// memory; one that is shorter than minGrowth may grow as much as that one.
const (
	maxGrowth = 100
	minGrowth = 64
)

// maxInflated bounds a record that is compressed, which only small ones should be.
const maxInflated = 256 << 20

func (a *archive) open(name string) (io.ReaderAt, int64, error) {
	f := a.records[name]
	if f == nil {
		return nil, 0, os.ErrNotExist
	}
	at, err := f.DataOffset()
	if err != nil {
		return nil, 0, err
	}
	if err := zipbounds.Grows(f); err != nil {
		return nil, 0, err
	}
	raw := io.NewSectionReader(a.r, at, int64(f.CompressedSize64))
	if m, ok := a.r.(memory); ok && f.Method == zip.Store && name != manifestName {
		if b, ok := m.at(at, raw.Size()); ok {
			return memory(b), raw.Size(), nil // its digest is in the manifest
		}
	}
	if f.Method == zip.Store {
		if raw.Size() > maxManifest {
			return raw, raw.Size(), nil // its digest is in the manifest
		}
		b := make([]byte, raw.Size())
		if err := readAt(raw, b, 0); err != nil {
			return nil, 0, err
		}
		return checked(f, b)
	}
	if f.UncompressedSize64 > maxInflated {
		return nil, 0, fmt.Errorf("a compressed record has %d bytes, at most %d are read", f.UncompressedSize64, maxInflated)
	}
	b := make([]byte, f.UncompressedSize64)
	inflated := flate.NewReader(raw)
	if _, err := io.ReadFull(inflated, b); err != nil {
		return nil, 0, err
	}
	if n, err := io.CopyN(io.Discard, inflated, 1); n > 0 || err != io.EOF {
		return nil, 0, errors.New("the record is longer than the archive says")
	}
	return checked(f, b)
}

// checked compares the checksum of a record, which is all that guards the manifest.
func checked(f *zip.File, b []byte) (io.ReaderAt, int64, error) {
	if crc32.ChecksumIEEE(b) != f.CRC32 {
		return nil, 0, fmt.Errorf("the record differs from its checksum")
	}
	return bytes.NewReader(b), int64(len(b)), nil
}

// Close closes the file.
func (a *archive) Close() error {
	if a.file != nil {
		return a.file.Close()
	}
	return nil
}
