//go:build unix

package filelock

import (
	"os"
	"syscall"
)

// Advisory reports whether locks keep other locks off, and nothing else: files that are
// locked can be written, renamed and removed.
const Advisory = true

// Try locks a file or folder against other openings of it, in this program or another, until
// it is closed or the program ends. It reports false where somebody else holds the lock.
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
