package atomicfile

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenonml/tenon/internal/filelock"
)

// Until it is complete, output has a temporary name: a dot, the name of the path, random
// letters and a suffix. The writer holds a lock on it, which ends with the program, so that
// the remains of a killed program can be distinguished from a file that another program is
// writing. Where locks are mandatory or not supported, remains are left alone.

const (
	ending  = ".tmp"
	behind  = ".old" // of what was at a path, and is replaced in two steps
	letters = 12
)

// claim creates a file or folder with a temporary name for output to a path. The caller owns the
// name until it calls free.
func claim(path string, make func(temp string) error) (temp string, free func(), err error) {
	dir, base := filepath.Split(path)
	for {
		temp = filepath.Join(dir, "."+base+"."+rand.Text()[:letters]+ending)
		if err := make(temp); err != nil {
			return "", nil, err
		}
		l, err := lock(temp)
		if err == errTaken {
			continue
		}
		return temp, func() { l.Close() }, nil // what cannot be locked here cannot be swept either
	}
}

// errTaken means that another process has locked or removed a file.
var errTaken = errors.New("the file is taken")

// lock locks a file or folder until the result is closed.
func lock(temp string) (*os.File, error) {
	if !filelock.Advisory {
		return nil, errors.ErrUnsupported
	}
	l, err := os.Open(temp)
	if os.IsNotExist(err) {
		return nil, errTaken
	}
	if err != nil {
		return nil, err
	}
	held, err := filelock.Try(l)
	if err != nil {
		l.Close()
		return nil, err
	}
	mine, err := l.Stat()
	if now, e := os.Lstat(temp); !held || err != nil || e != nil || !os.SameFile(mine, now) {
		l.Close()
		return nil, errTaken
	}
	return l, nil
}

// sweep removes what killed programs have left next to a path. If one of them had moved away what
// was at the path, it is restored.
func sweep(path string) {
	dir, base := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	names, _ := d.Readdirnames(-1)
	d.Close()
	for _, name := range names {
		rest, begins := strings.CutPrefix(name, "."+base+".")
		rest, ends := strings.CutSuffix(rest, ending)
		if !begins || !ends || len(rest) != letters || strings.Trim(rest, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" {
			continue
		}
		temp := filepath.Join(dir, name)
		if info, err := os.Lstat(temp); err != nil || !info.Mode().IsRegular() && !info.IsDir() {
			continue
		}
		if l, err := lock(temp); err == nil {
			if slices.Contains(names, name+behind) {
				os.Rename(temp+behind, path) // fails if the path exists
				os.RemoveAll(temp + behind)
			}
			os.RemoveAll(temp)
			l.Close()
		}
	}
}
