//go:build linux && (amd64 || arm64)

package atomicfile

import (
	"errors"
	"runtime"
	"syscall"
	"unsafe"
)

// exchange atomically exchanges the names of two files. Not all file systems support it.
func exchange(a, b string) error {
	number := uintptr(316) // renameat2
	if runtime.GOARCH == "arm64" {
		number = 276
	}
	const here, exchanged = -100, 2 // AT_FDCWD, RENAME_EXCHANGE
	p, err := syscall.BytePtrFromString(a)
	q, err2 := syscall.BytePtrFromString(b)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	dir := here
	_, _, e := syscall.Syscall6(number, uintptr(dir), uintptr(unsafe.Pointer(p)), uintptr(dir), uintptr(unsafe.Pointer(q)), exchanged, 0)
	if e != 0 {
		return e
	}
	return nil
}
