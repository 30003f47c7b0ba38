package filemap_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tenonml/tenon/internal/filemap"
)

func TestBytes(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	for _, text := range []string{"", "some bytes"} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		b, free, err := filemap.Open(name)
		if err != nil || string(b) != text {
			t.Fatalf("got %q, %v", b, err)
		}
		for i := range b {
			b[i] = 'x' // the file stays
		}
		if err := free(); err != nil {
			t.Fatal(err)
		}
		if b, _ := os.ReadFile(name); string(b) != text {
			t.Errorf("the file holds %q", b)
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	w.WriteString("piped")
	w.Close()
	if b, _, err := filemap.Bytes(r); err != nil || string(b) != "piped" {
		t.Errorf("got %q, %v", b, err)
	}
	if _, _, err := filemap.Open(name + "x"); !os.IsNotExist(err) {
		t.Error(err)
	}
}
