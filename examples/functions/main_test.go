package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/tenonml/tenon/examples/internal/source"
)

// Of the functions that training has not seen, is told of 84 % whether they return an error.
func TestFunctions(t *testing.T) {
	if _, err := source.Root(); err != nil {
		t.Skip(err)
	}
	epochs, least := 3, 0.84
	if testing.Short() {
		epochs, least = 1, 0.75
	}
	picture := filepath.Join(t.TempDir(), "functions.svg")
	accuracy, auc, err := run(t.Context(), epochs, picture)
	if err != nil || accuracy < least || auc < least+0.05 {
		t.Errorf("%.3f of the functions are told, and the area is %.3f, want %v and 0.05 more; %v", accuracy, auc, least, err)
	}
	if svg, err := os.ReadFile(picture); err != nil || !bytes.Contains(svg, []byte("no error")) {
		t.Errorf("the picture: %v", err)
	}
}
