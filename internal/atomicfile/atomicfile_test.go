package atomicfile_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/atomicfile"
	"github.com/tenonml/tenon/internal/filelock"
)

func TestWrite(t *testing.T) {
	t.Run("write", func(t *testing.T) { testWrite(t, atomicfile.Write) })
	t.Run("replace", func(t *testing.T) { testWrite(t, atomicfile.Replace) })
}

func testWrite(t *testing.T, write func(path string, fill func(w io.Writer) error) error) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for _, text := range []string{"first", "second, longer"} {
		err := write(path, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		check(t, dir, text)
	}

	broken := errors.New("no space left")
	err := write(path, func(w io.Writer) error {
		w.Write(bytes.Repeat([]byte("x"), 3<<20)) // more than is buffered
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
	check(t, dir, "second, longer")

	if err := write(filepath.Join(dir, "none", "f"), func(io.Writer) error { return nil }); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing folder: error %v, want fs.ErrNotExist", err)
	}
}

// check wants dir to hold one file, f, with the text.
func check(t *testing.T, dir, text string) {
	t.Helper()
	got, err := os.ReadFile(filepath.Join(dir, "f"))
	if err != nil || string(got) != text {
		t.Errorf("file holds %q, %v; want %q", got, err, text)
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) != 1 {
		t.Errorf("%v in the folder, want one file", entries)
	}
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "model")
	inside := func(want string) {
		t.Helper()
		got, _ := os.ReadFile(filepath.Join(path, "f"))
		entries, _ := os.ReadDir(dir)
		if string(got) != want || len(entries) != 1 {
			t.Errorf("the folder holds %q, beside it are %v; want %q", got, entries, want)
		}
	}
	for _, text := range []string{"first", "second"} {
		err := atomicfile.Folder(path, func(temp string) error {
			return os.WriteFile(filepath.Join(temp, "f"), []byte(text), 0o666)
		})
		if err != nil {
			t.Fatal(err)
		}
		inside(text)
	}
	broken := errors.New("no space left")
	err := atomicfile.Folder(path, func(temp string) error {
		return errors.Join(os.WriteFile(filepath.Join(temp, "f"), nil, 0o666), broken)
	})
	if !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
	inside("second")
}

// TestSweep checks that what killed programs left beside a path goes when the path is written,
// and nothing else: not what is being written, and no other file.
func TestSweep(t *testing.T) {
	if !filelock.Advisory {
		t.Skip("what is left stays on this system")
	}
	dir := t.TempDir()
	make := func(names ...string) {
		t.Helper()
		for _, name := range names {
			name = filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte("half"), 0o666)); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := func(names ...string) {
		t.Helper()
		var got []string
		for _, e := range tenon.Must(os.ReadDir(dir)) {
			got = append(got, e.Name())
		}
		if !slices.Equal(got, names) {
			t.Errorf("there is %q, want %q", got, names)
		}
	}
	other := []string{".f.ABCDEFGHIJK.tmp", ".f.abcdefghijkl.tmp", ".f.g.ABCDEFGHIJKL.tmp", "f.ABCDEFGHIJKL.tmp"}
	for name, write := range map[string]func(inner func()) error{
		"file": func(inner func()) error {
			return atomicfile.Write(filepath.Join(dir, "f"), func(io.Writer) error { inner(); return nil })
		},
		"folder": func(inner func()) error {
			return atomicfile.Folder(filepath.Join(dir, "f"), func(string) error { inner(); return nil })
		},
	} {
		make(append(other, ".f.ABCDEFGHIJKL.tmp", ".f.234567ABCDEF.tmp/a/b")...)
		var living int
		err := write(func() {
			living = len(tenon.Must(os.ReadDir(dir)))
			if err := write(func() {}); err != nil { // while the first one is writing
				t.Error(name, err)
			}
		})
		if err != nil || living != len(other)+1 {
			t.Errorf("%s: %v, %d files while it is written", name, err, living)
		}
		want(append(slices.Sorted(slices.Values(other[:3])), "f", other[3])...)
		if err := os.RemoveAll(filepath.Join(dir, "f")); err != nil {
			t.Fatal(err)
		}
	}
	// A folder that had been taken away to be replaced comes back, where there is none.
	make(".f.ABCDEFGHIJKL.tmp/new", ".f.ABCDEFGHIJKL.tmp.old/before")
	err := atomicfile.Folder(filepath.Join(dir, "f"), func(string) error { return io.ErrShortWrite })
	if _, e := os.Stat(filepath.Join(dir, "f", "before")); err != io.ErrShortWrite || e != nil {
		t.Errorf("what was taken away: %v, %v", err, e)
	}
	want(append(slices.Sorted(slices.Values(other[:3])), "f", other[3])...)
}
