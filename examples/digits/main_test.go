package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// Of the pictures that training has not seen, 98.3 % are read right.
func TestDigits(t *testing.T) {
	epochs, least := 15, 0.983
	if testing.Short() {
		epochs, least = 3, 0.93
	}
	picture := filepath.Join(t.TempDir(), "digits.svg")
	accuracy, err := run(t.Context(), epochs, picture)
	if err != nil || accuracy < least {
		t.Errorf("%.4f of the digits are recognised correctly, want %v; %v", accuracy, least, err)
	}
	if svg, err := os.ReadFile(picture); err != nil || !bytes.Contains(svg, []byte("<svg")) {
		t.Errorf("the picture: %v", err)
	}
}
