package input_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tenonml/tenon/internal/input"
)

func TestGlob(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.txt", "a.txt", "c.csv", "odd[1].txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	at := func(names ...string) []string {
		for i, n := range names {
			names[i] = filepath.Join(dir, n)
		}
		return names
	}
	for _, c := range []struct{ patterns, want []string }{
		{at("*.txt"), at("a.txt", "b.txt", "odd[1].txt")},
		{at("?.txt", "a.*"), at("a.txt", "b.txt")},
		{at("odd[1].txt"), at("odd[1].txt")},
	} {
		if got, err := input.Glob(c.patterns...); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, %v", c.patterns, got, err)
		}
	}
	if _, err := input.Glob(at("*.json")...); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := input.Glob(at("[")...); !errors.Is(err, filepath.ErrBadPattern) {
		t.Error(err)
	}
}

// What is written under each name is read as what it was.
func TestCompressionGoesByName(t *testing.T) {
	text := bytes.Repeat([]byte("some text\n"), 1000)
	for _, name := range []string{"x", "x.gz", "x.zst"} {
		path := filepath.Join(t.TempDir(), name)
		if err := input.WriteFile(path, func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(path)
		if err != nil || (len(raw) < len(text)) != (name != "x") {
			t.Errorf("%s: %d bytes, %v", name, len(raw), err)
		}
		for _, in := range []input.Input{input.File(path), input.Reader("r", bytes.NewReader(raw))} {
			r, err := in.Open()
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(r)
			if err != nil || !bytes.Equal(got, text) {
				t.Errorf("%s: %d bytes, %v", name, len(got), err)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
