package atomicfile_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/tenonml/tenon/internal/atomicfile"
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
