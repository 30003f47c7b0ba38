package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// Advisory reports whether locks exclude only other locks: locked files can still be written,
// renamed and removed.
const Advisory = false

// Try locks a file against other opens of it, in this or any other process, until it is closed or
// the process ends. It reports false if somebody else holds the lock.
func Try(f *os.File) (bool, error) {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}
