package progress

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNoTerminal(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := New(f, "reading", 3)
	b.Set(1)
	b.Describe("still reading")
	b.Close()
	if info, err := f.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("%d bytes written to a file, %v; want none", info.Size(), err)
	}
}

func TestBar(t *testing.T) {
	var out bytes.Buffer
	b := newBar(&out, "reading", 4)
	b.Set(2)
	b.Close()
	if s := out.String(); !strings.Contains(s, "reading") || !strings.Contains(s, "50%") {
		t.Errorf("drew %q, want the label and 50%%", s)
	}
}
