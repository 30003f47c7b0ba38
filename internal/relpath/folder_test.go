package relpath_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenonml/tenon/internal/relpath"
)

// TestFolder opens regular files in a folder, and the blobs that the files of a snapshot link
// to: nothing else.
func TestFolder(t *testing.T) {
	top := t.TempDir()
	repository := filepath.Join(top, "hub", "models--org--name")
	snapshot := filepath.Join(repository, "snapshots", "0123")
	plain := filepath.Join(top, "plain")
	write := func(name, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	link := func(to, name string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.Symlink(to, name)); err != nil {
			t.Skip(err)
		}
	}
	write(filepath.Join(top, "secret"), "secret")
	write(filepath.Join(repository, "refs", "main"), "secret")
	write(filepath.Join(repository, "blobs", "b1"), "blob")
	write(filepath.Join(snapshot, "copied"), "copy")
	link("../../blobs/b1", filepath.Join(snapshot, "linked"))
	link("../../../blobs/b1", filepath.Join(snapshot, "sub", "linked"))
	link("../../refs/main", filepath.Join(snapshot, "elsewhere"))
	link("../../../../secret", filepath.Join(snapshot, "outside"))
	link("../../blobs", filepath.Join(snapshot, "folder"))
	link("../../blobs/none", filepath.Join(snapshot, "dangling"))
	link("b1", filepath.Join(repository, "blobs", "again"))
	link("../../blobs/again", filepath.Join(snapshot, "twice"))
	write(filepath.Join(plain, "a", "b"), "inside")
	link("a/b", filepath.Join(plain, "linked"))
	link("a", filepath.Join(plain, "folder"))
	link("../secret", filepath.Join(plain, "outside"))
	link(filepath.Join(top, "secret"), filepath.Join(plain, "absolute"))
	for _, c := range []struct{ dir, name, want string }{
		{plain, "a/b", "inside"}, {filepath.Join(plain, "a"), "b", "inside"},
		{plain, "linked", ""}, {plain, "folder/b", ""}, {plain, "outside", ""}, {plain, "absolute", ""}, {plain, "a", ""}, {plain, "none", ""},
		{plain, "../secret", ""}, {plain, "", ""}, {plain, ".", ""}, {plain, "a/../a/b", ""},
		{snapshot, "copied", "copy"}, {snapshot, "linked", "blob"}, {snapshot, "sub/linked", "blob"}, {filepath.Join(snapshot, "sub"), "linked", "blob"},
		{snapshot, "elsewhere", ""}, {snapshot, "outside", ""}, {snapshot, "folder/b1", ""}, {snapshot, "dangling", ""}, {snapshot, "twice", ""}, {snapshot, "../../blobs/b1", ""},
		{repository, "snapshots/0123/linked", ""},
	} {
		d, err := relpath.OpenFolder(c.dir)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		f, n, err := d.Open(c.name)
		if err == nil {
			b, _ := io.ReadAll(f)
			f.Close()
			if got = string(b); int64(len(b)) != n {
				t.Errorf("%s in %s: %d bytes, not %d", c.name, c.dir, len(b), n)
			}
		}
		if got != c.want || c.want == "" && err == nil || err != nil && !strings.Contains(err.Error(), c.name) {
			t.Errorf("%s in %s: %q, %v, want %q", c.name, c.dir, got, err, c.want)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := relpath.OpenFolder(filepath.Join(top, "none")); !os.IsNotExist(err) {
		t.Error(err)
	}
}
