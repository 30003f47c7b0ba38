//go:build unix

package hub

import (
	"os"
	"syscall"
)

// tryLock locks a file against other openings of it, in this program or another. It
// reports false where somebody else holds the lock.
func tryLock(f *os.File) (bool, error) {
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
