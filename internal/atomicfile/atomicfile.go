package atomicfile

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// Write calls fill with a writer and puts what it wrote at a path, replacing a file
// that is there, only once all of it is on disk. When fill or the disk fails, the error
// comes back, the path is as it was and nothing is left beside it. The folder must exist;
// what is at the path must be a regular file, whose mode is kept. A program that is killed
// leaves the path as it was, and a file beside it whose name begins with a dot and ends in
// .tmp, which the next Write to the path removes where the system has locks on files.
func Write(path string, fill func(w io.Writer) error) error { return write(path, true, fill) }

// Replace is [Write] for what can be made again: a failure of fill, of the disk or of
// the process leaves what was at the path, but the system says when what was written
// gets to the disk, so that it may be lost where the power fails.
func Replace(path string, fill func(w io.Writer) error) error { return write(path, false, fill) }

func write(path string, sync bool, fill func(w io.Writer) error) (err error) {
	dir := filepath.Dir(path)
	mode := os.FileMode(0o666)
	if info, err := os.Stat(path); err == nil {
		if mode = info.Mode().Perm(); !info.Mode().IsRegular() {
			return errors.New("there is something that is no regular file")
		}
	}
	if sync {
		sweep(path)
	}
	var f *os.File
	temp, free, err := claim(path, func(temp string) (err error) {
		f, err = os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		return err
	})
	if e := new(os.PathError); errors.As(err, &e) {
		e.Path = path // the other name is nobody's affair
	}
	if err != nil {
		return err
	}
	defer free()
	defer func() {
		if err != nil {
			f.Close() // a second close is harmless
			os.Remove(temp)
		}
	}()
	w := bufio.NewWriterSize(f, 1<<18)
	if err := fill(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if sync {
		if err := f.Sync(); err != nil { // a full disk may not show before
			return err
		}
	}
	if err := f.Close(); err != nil {
		return err
	}
	if !sync {
		return rename(temp, path)
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	return syncDir(dir)
}

// rename gives a file the name of another one. A plain rename over a file makes ext4
// write out what is new there and then, which takes half as long again as to write
// 100 MB; to exchange the names and remove the old file does not.
func rename(from, to string) error {
	if exchange(from, to) == nil {
		if err := os.Remove(from); !os.IsNotExist(err) { // a sweep may have been there first
			return err
		}
		return nil
	}
	return os.Rename(from, to)
}

// syncDir brings the entries of a directory to the disk.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" { // directories cannot be opened there
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
