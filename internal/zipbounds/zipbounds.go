package zipbounds

import (
	"archive/zip"
	"errors"
	"fmt"
)

// maxRatio bounds how much a compressed record may grow: deflate makes at most 1032 bytes of
// one.
const maxRatio = 1040

// Apart returns an error where records have more bytes together than their archive of size
// bytes, so that some stand on the same bytes.
func Apart(records []*zip.File, size int64) error {
	sum := uint64(0)
	for _, f := range records {
		if sum += f.CompressedSize64; f.CompressedSize64 > uint64(size) || sum > uint64(size) {
			return errors.New("the records overlap, or are longer than the file")
		}
	}
	return nil
}

// Grows returns an error where a record cannot have as many bytes as the archive says.
func Grows(f *zip.File) error {
	n := f.UncompressedSize64
	if n > maxRatio*(f.CompressedSize64+1) || f.Method == zip.Store && n != f.CompressedSize64 {
		return fmt.Errorf("a record of %d bytes cannot have %d", f.CompressedSize64, n)
	}
	return nil
}
