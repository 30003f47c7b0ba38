//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package arrowio

import (
	"os"
	"syscall"
)

// mapFile returns the bytes of a file, and what gives their memory back.
func mapFile(name string) (b []byte, unmap func() error, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if n := st.Size(); st.Mode().IsRegular() && n > 0 && n == int64(int(n)) {
		b, err = syscall.Mmap(int(f.Fd()), 0, int(n), syscall.PROT_READ, syscall.MAP_SHARED)
		if err == nil {
			return b, func() error { return syscall.Munmap(b) }, nil
		}
	}
	return readAll(f)
}
