package weights

import (
	"archive/zip"
	"bytes"
	"io"
	"strings"
)

// maxRatio bounds how much a compressed record may grow: deflate makes at most 1032
// bytes of one.
const maxRatio = 1040

// openNPZ opens an archive of arrays. They are decompressed at once, since the checksum
// of a record covers all of it.
func openNPZ(f *File, r io.ReaderAt, size int64) error {
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return invalid("it is no whole archive: %v", err)
	}
	if err := apart(archive, size); err != nil {
		return err
	}
	for _, record := range archive.File {
		name, ok := strings.CutSuffix(record.Name, ".npy")
		if !ok {
			continue
		}
		b, err := unzip(record, size)
		if err == nil {
			err = f.addNPY(name, bytes.NewReader(b), int64(len(b)))
		}
		if err != nil {
			return at(record.Name, err)
		}
	}
	return nil
}

// unzip reads a record of an archive of the given size and compares its checksum.
func unzip(record *zip.File, size int64) ([]byte, error) {
	n := record.UncompressedSize64
	if record.CompressedSize64 > uint64(size) || n > maxRatio*(record.CompressedSize64+1) || record.Method == zip.Store && n != record.CompressedSize64 {
		return nil, invalid("a record of %d bytes cannot have %d", record.CompressedSize64, n)
	}
	r, err := record.Open()
	if err != nil {
		return nil, invalid("%v", err)
	}
	defer r.Close()
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, invalid("the record cannot be read: %v", err)
	}
	if extra, err := io.Copy(io.Discard, io.LimitReader(r, 1)); extra != 0 || err != nil {
		return nil, invalid("the record cannot be read: %v", errOr(err, "it is longer than the archive says"))
	}
	return b, nil
}

// apart reports records that have more bytes together than the archive: some stand on
// the same bytes.
func apart(archive *zip.Reader, size int64) error {
	sum := uint64(0)
	for _, record := range archive.File {
		if sum += record.CompressedSize64; record.CompressedSize64 > uint64(size) || sum > uint64(size) {
			return invalid("the records overlap, or are longer than the archive")
		}
	}
	return nil
}
