package relpath

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// A Folder is a folder with untrusted files. It provides only regular files at plain paths,
// not reached through symbolic links; a hard link is a regular file like any other. The only
// exception are snapshots in the cache of the Hugging Face hub, in which each file is a link
// to a blob of the same repository.
type Folder struct {
	root     *os.Root
	snapshot string // path of a snapshot within its repository; "" for other folders
}

// OpenFolder opens a folder.
func OpenFolder(dir string) (*Folder, error) {
	repository, snapshot := snapshotOf(dir)
	root, err := os.OpenRoot(repository)
	if err != nil {
		return nil, err
	}
	return &Folder{root, snapshot}, nil
}

// snapshotOf splits a path ../models--NAME/snapshots/COMMIT.. after the repository.
func snapshotOf(dir string) (repository, snapshot string) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return dir, ""
	}
	for at := abs; at != filepath.Dir(at); at = filepath.Dir(at) {
		parent := filepath.Dir(at)
		repository = filepath.Dir(parent)
		if filepath.Base(parent) == "snapshots" && strings.HasPrefix(filepath.Base(repository), "models--") {
			if rel, err := filepath.Rel(repository, abs); err == nil {
				return repository, filepath.ToSlash(rel)
			}
		}
	}
	return dir, ""
}

// Open opens a file and returns its size. It does not block on files that are not regular, such as
// pipes.
func (f *Folder) Open(name string) (*os.File, int64, error) {
	if err := Check(name); err != nil {
		return nil, 0, err
	}
	at := path.Join(f.snapshot, name)
	for end := range len(name) + 1 {
		if end < len(name) && name[end] != '/' {
			continue
		}
		info, err := f.root.Lstat(filepath.FromSlash(path.Join(f.snapshot, name[:end])))
		switch {
		case err != nil:
			return nil, 0, err
		case info.Mode()&fs.ModeSymlink != 0 && end == len(name):
			if at, err = f.blob(at); err != nil {
				return nil, 0, fmt.Errorf("%s is a link", name)
			}
		case info.Mode()&fs.ModeSymlink != 0:
			return nil, 0, fmt.Errorf("%s: %s is a link", name, name[:end])
		case end == len(name) && !info.Mode().IsRegular():
			return nil, 0, fmt.Errorf("%s is not a regular file", name)
		}
	}
	file, err := f.root.Open(filepath.FromSlash(at))
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, 0, err
	}
	return file, info.Size(), nil
}

// blob returns the path of the blob that a file of a snapshot links to.
func (f *Folder) blob(at string) (string, error) {
	to, err := f.root.Readlink(filepath.FromSlash(at))
	if err != nil {
		return "", err
	}
	blob := path.Join(path.Dir(at), filepath.ToSlash(to))
	info, err := f.root.Lstat(filepath.FromSlash(blob))
	if err != nil {
		return "", err
	}
	if f.snapshot == "" || path.Dir(blob) != "blobs" || !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a blob", blob)
	}
	return blob, nil
}

// Close closes the folder. Open files stay open.
func (f *Folder) Close() error { return f.root.Close() }
