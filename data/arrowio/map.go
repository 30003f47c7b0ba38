package arrowio

import (
	"io"
	"os"
)

// readAll reads a file that cannot be mapped: a pipe, or an empty one.
func readAll(f *os.File) (b []byte, unmap func() error, err error) {
	b, err = io.ReadAll(f)
	return b, func() error { return nil }, err
}
