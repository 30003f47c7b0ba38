package atomicfile

import (
	"os"
	"path/filepath"
)

// Folder calls fill with an empty folder and moves it to a path once fill has returned, replacing
// an existing folder. If fill fails, Folder returns its error, the path is unchanged, and nothing
// is left next to it. Files that fill does not sync to disk itself may be lost in a power failure.
// If the program is killed, the path is either the old or the new folder, and a folder may remain
// next to it, like the file that [Write] may leave.
func Folder(path string, fill func(temp string) error) error {
	path = filepath.Clean(path)
	sweep(path)
	temp, free, err := claim(path, func(temp string) error { return os.Mkdir(temp, 0o777) })
	if err != nil {
		return err
	}
	defer free()
	defer os.RemoveAll(temp) // finally contains the old folder
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
