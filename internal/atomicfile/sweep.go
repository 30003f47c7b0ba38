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

// What is written has a name of its own until it is whole: the path's with a dot before it,
// and behind it letters by chance and an ending. Who writes holds a lock on it, which ends
// with the program, so that what a killed program has left can be told from what another one
// is writing. Where locks do more than that, or there are none, what is left stays.

const (
	ending  = ".tmp"
	behind  = ".old" // of what was at a path, and is replaced in two steps
	letters = 12
)

// claim makes a file or folder under a name for what is to be put at a path. The name is the
// caller's until it is given free.
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
		return temp, func() { l.Close() }, nil // what cannot be locked no sweep can, either
	}
}

// errTaken says that somebody else has locked a file, or removed it.
var errTaken = errors.New("the file is taken")

// lock locks a file or folder until what it returns is closed.
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

// sweep removes what killed programs have left beside a path. Where one of them had taken
// away what was at the path, it comes back.
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
				os.Rename(temp+behind, path) // fails where the path has something
				os.RemoveAll(temp + behind)
			}
			os.RemoveAll(temp)
			l.Close()
		}
	}
}
