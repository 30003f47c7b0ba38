package weights

import (
	"archive/zip"
	"bytes"
	"io"
	"strings"

	"github.com/tenonml/tenon/internal/zipbounds"
)

// openNPZ opens an archive of arrays. They are decompressed immediately, because the checksum
// of a record covers all of it.
func openNPZ(f *File, r io.ReaderAt, size int64) error {
	archive, err := zipbounds.Open(r, size)
	if err != nil {
		return invalid("it is not a complete archive: %v", err)
	}
	for _, record := range archive.File {
		name, ok := strings.CutSuffix(record.Name, ".npy")
		if !ok {
			continue
		}
		b, err := unzip(record)
		if err == nil {
			err = f.addNPY(name, bytes.NewReader(b), int64(len(b)))
		}
		if err != nil {
			return at(record.Name, err)
		}
	}
	return nil
}

// unzip reads a record and checks its checksum.
func unzip(record *zip.File) ([]byte, error) {
	if err := zipbounds.Grows(record); err != nil {
		return nil, invalid("%v", err)
	}
	r, err := record.Open()
	if err != nil {
		return nil, invalid("%v", err)
	}
	defer r.Close()
	b := make([]byte, record.UncompressedSize64)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, invalid("the record cannot be read: %v", err)
	}
	if extra, err := io.Copy(io.Discard, io.LimitReader(r, 1)); extra != 0 || err != nil {
		return nil, invalid("the record cannot be read: %v", errOr(err, "it is longer than the archive says"))
	}
	return b, nil
}
