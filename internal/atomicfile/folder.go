package atomicfile

import (
	"os"
	"path/filepath"
)

// Folder calls fill with an empty folder and puts it at a path once fill has returned,
// in place of a folder that is there. When fill fails, its error comes back, the path is
// as it was, and nothing is left beside it. Files that fill does not bring to the disk
// itself may be lost where the power fails. A program that is killed leaves one folder or
// the other at the path, and may leave a folder beside it as [Write] does a file.
func Folder(path string, fill func(temp string) error) error {
	path = filepath.Clean(path)
	sweep(path)
	temp, free, err := claim(path, func(temp string) error { return os.Mkdir(temp, 0o777) })
	if err != nil {
		return err
	}
	defer free()
	defer os.RemoveAll(temp) // what was at the path, in the end
	if err := fill(temp); err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		if exchange(temp, path) == nil {
			return syncDir(filepath.Dir(path))
		}
		old := temp + behind
		if err := os.Rename(path, old); err != nil {
			return err
		}
		defer os.RemoveAll(old)
		if err := os.Rename(temp, path); err != nil {
			os.Rename(old, path)
			return err
		}
		return syncDir(filepath.Dir(path))
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}
