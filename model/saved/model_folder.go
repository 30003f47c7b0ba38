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

// A folder gives access to the files of a model that is being read.
type folder interface {
	// open returns a file, uncompressed, and its size.
	open(name string) (io.ReaderAt, int64, error)
	io.Closer

	// mappings returns functions that unmap mapped files.
	mappings() []func() error
}

// memory is a file, or a part of one, whose bytes are in memory and stay there.
type memory []byte

// ReadAt copies bytes.
func (m memory) ReadAt(b []byte, at int64) (int, error) { return bytes.NewReader(m).ReadAt(b, at) }

// at returns n bytes starting at from, without copying them. Their capacity includes the bytes
// that follow, which may be read.
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

// openArchive reads the directory of a ZIP file. It rejects records that are encrypted, that
// overlap or occur twice, or whose names lead out of a folder.
func openArchive(r io.ReaderAt, n int64) (*archive, error) {
	z, err := zipbounds.Open(r, n)
	if err != nil {
		return nil, err
	}
	if z.Comment != "" {
		return nil, errors.New("it has a comment, which could hide another format")
	}
	a := &archive{r: r, records: map[string]*zip.File{}}
	seen := map[string]bool{}
	for _, f := range z.File {
		if folder, ok := strings.CutSuffix(f.Name, "/"); ok && f.UncompressedSize64 == 0 && relpath.Check(folder) == nil {
			continue // added by other programs
		}
		if err := relpath.Check(f.Name); err != nil {
			return nil, err
		}
		folded := strings.ToLower(f.Name)
		switch {
		case seen[folded]:
			return nil, fmt.Errorf("the record %q occurs twice", f.Name)
		case f.Flags&1 != 0:
			return nil, fmt.Errorf("the record %q is encrypted", f.Name)
		case f.Method != zip.Store && f.Method != zip.Deflate:
			return nil, fmt.Errorf("the record %q is compressed by method %d, which is not supported", f.Name, f.Method)
		case !f.Mode().IsRegular():
			return nil, fmt.Errorf("the record %q is not a regular file", f.Name)
		case f.Method != zip.Store && f.UncompressedSize64 > maxGrowth*(f.CompressedSize64+minGrowth):
			return nil, fmt.Errorf("the record %q has %d bytes, but %d compressed, which is more than a factor of %d", f.Name, f.UncompressedSize64, f.CompressedSize64, maxGrowth)
		}
		seen[folded], a.records[f.Name] = true, f
	}
	return a, nil
}

// maxGrowth bounds the factor by which a compressed record may grow, and with it the memory
// that an archive takes. Records shorter than minGrowth may grow as much as one of that size.
const (
	maxGrowth = 100
	minGrowth = 64
)

// maxInflated bounds the size of a decompressed record; only small records should be
// compressed.
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
		return nil, 0, fmt.Errorf("a compressed record has %d bytes, more than the limit of %d", f.UncompressedSize64, maxInflated)
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

// checked verifies the checksum of a record, which is the only protection of the manifest.
func checked(f *zip.File, b []byte) (io.ReaderAt, int64, error) {
	if crc32.ChecksumIEEE(b) != f.CRC32 {
		return nil, 0, fmt.Errorf("the record does not match its checksum")
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
