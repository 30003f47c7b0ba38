package atomicfile

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// Write calls fill with a writer and puts the output at a path, replacing an existing file, only
// after all of it has been written to disk. If fill or the disk fails, Write returns the error, the
// path is unchanged and nothing is left next to it. The folder must exist; an existing path must be
// a regular file, whose mode is kept. If the program is killed, the path is unchanged, but a file
// remains next to it whose name begins with a dot and ends in .tmp; the next Write to the path
// removes it if the system supports file locks.
func Write(path string, fill func(w io.Writer) error) error { return write(path, true, fill) }

// Replace is [Write] for data that can be recreated: if fill, the disk or the process fails, the
// path is unchanged, but the system decides when the output is written to disk, so that it may be
// lost in a power failure.
func Replace(path string, fill func(w io.Writer) error) error { return write(path, false, fill) }

func write(path string, sync bool, fill func(w io.Writer) error) (err error) {
	dir := filepath.Dir(path)
	mode := os.FileMode(0o666)
	if info, err := os.Stat(path); err == nil {
		if mode = info.Mode().Perm(); !info.Mode().IsRegular() {
			return errors.New("the path is not a regular file")
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
		e.Path = path // do not report the temporary name
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
		if err := f.Sync(); err != nil { // a full disk may be reported only here
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

// rename renames a file to an existing one. A plain rename over a file makes ext4 write the
// contents immediately, which takes half as long again as writing 100 MB; exchanging the names and
// removing the old file avoids that.
func rename(from, to string) error {
	if exchange(from, to) == nil {
		if err := os.Remove(from); !os.IsNotExist(err) { // a sweep may have removed it already
			return err
		}
		return nil
	}
	return os.Rename(from, to)
}

// syncDir writes the entries of a directory to disk.
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
