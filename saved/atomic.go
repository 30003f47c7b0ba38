package saved

import (
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// replaceFile writes a file beside the one of the given name, brings it to the disk and
// lets it take that name. Where anything fails, the old file stays and the new one is
// removed.
func replaceFile(name string, write func(io.Writer) error) (err error) {
	dir, base := filepath.Split(name)
	if dir == "" {
		dir = "."
	}
	mode := os.FileMode(0o666)
	if info, err := os.Stat(name); err == nil {
		if mode = info.Mode().Perm(); !info.Mode().IsRegular() {
			return fmt.Errorf("there is something that is no regular file")
		}
	}
	temp := filepath.Join(dir, "."+base+"."+rand.Text()[:12]+".tmp")
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(temp)
		}
	}()
	if err = write(f); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	if err = os.Rename(temp, name); err != nil {
		return err
	}
	return syncDir(dir)
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
