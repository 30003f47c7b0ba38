package track_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDocument wants every block of Go in docs/extension-types.md to be part of this
// package, where it is compiled and run.
func TestDocument(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "extension-types.md"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		source.Write(b)
	}
	blocks := strings.Split(string(doc), "```go\n")[1:]
	if len(blocks) < 8 {
		t.Errorf("the document has only %d blocks of code", len(blocks))
	}
	for _, b := range blocks {
		code, _, ok := strings.Cut(b, "```")
		if !ok {
			t.Fatal("a block does not end")
		}
		if !strings.Contains(source.String(), code) {
			t.Errorf("not in this package:\n%s", code)
		}
	}
}
