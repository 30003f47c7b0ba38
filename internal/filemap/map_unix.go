//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package filemap

import (
	"errors"
	"os"
	"syscall"
)

// mapped maps a file; if it returns an error, the file must be read instead.
func mapped(f *os.File) (b []byte, free func() error, err error) {
	st, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	n := st.Size()
	if !st.Mode().IsRegular() || n == 0 || n != int64(int(n)) {
		return nil, nil, errors.ErrUnsupported
	}
	b, err = syscall.Mmap(int(f.Fd()), 0, int(n), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE)
	return b, func() error { return syscall.Munmap(b) }, err
}
