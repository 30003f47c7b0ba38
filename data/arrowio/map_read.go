//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package arrowio

import "os"

// mapFile returns the bytes of a file, and what gives their memory back.
func mapFile(name string) (b []byte, unmap func() error, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	return readAll(f)
}
