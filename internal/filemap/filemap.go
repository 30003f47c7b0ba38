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

// Bytes returns the bytes of a file and what gives their memory back, after which nobody may
// look at them. They are mapped where the system can, and read otherwise: from a pipe,
// say. Who writes to the bytes changes a copy of their page and not the file; a file that
// others shorten in the meantime ends the program.
func Bytes(f *os.File) (b []byte, free func() error, err error) {
	if b, free, err := mapped(f); err == nil {
		return b, free, nil
	}
	b, err = io.ReadAll(f)
	return b, func() error { return nil }, err
}
