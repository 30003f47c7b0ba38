package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/tenonml/tenon/examples/internal/source"
)

// Of the comments that training has not seen, the package of 80 % is told, among 13.
func TestComments(t *testing.T) {
	if _, err := source.Root(); err != nil {
		t.Skip(err)
	}
	epochs, least := 5, 0.8
	if testing.Short() {
		epochs, least = 2, 0.6
	}
	picture := filepath.Join(t.TempDir(), "comments.svg")
	accuracy, err := run(t.Context(), epochs, picture)
	if err != nil || accuracy < least {
		t.Errorf("the package of %.3f of the comments is predicted correctly, want %v; %v", accuracy, least, err)
	}
	if svg, err := os.ReadFile(picture); err != nil || !bytes.Contains(svg, []byte("go/types")) {
		t.Errorf("the picture: %v", err)
	}
}
