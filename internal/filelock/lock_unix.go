//go:build unix

package filelock

import (
	"os"
	"syscall"
)

// Advisory reports whether locks exclude only other locks: locked files can still be written,
// renamed and removed.
const Advisory = true

// Try locks a file or folder against other opens of it, in this or any other process, until it is
// closed or the process ends. It reports false if somebody else holds the lock.
func Try(f *os.File) (bool, error) {
	for {
		switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err {
		case nil:
			return true, nil
		case syscall.EINTR:
		case syscall.EWOULDBLOCK:
			return false, nil
		default:
			return false, err
		}
	}
}
