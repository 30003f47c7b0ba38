package filemap

import (
	"io"
	"os"
)

// Open returns the bytes of a file, as [Bytes] does.
func Open(name string) (b []byte, free func() error, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	return Bytes(f)
}

// Bytes returns the bytes of a file, and a function that frees their memory, after which
// they must not be used. They are mapped if the system supports it, and otherwise, for
// example for a pipe, read. Writing to the bytes changes a private copy of the page rather
// than the file. If another process truncates the file in the meantime, accessing the bytes
// ends the program.
func Bytes(f *os.File) (b []byte, free func() error, err error) {
	if b, free, err := mapped(f); err == nil {
		return b, free, nil
	}
	b, err = io.ReadAll(f)
	return b, func() error { return nil }, err
}
