package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenonml/tenon/examples/internal/source"
)

// What a character costs falls from 7 bits, and prompts go on with characters of such text. After the 400 steps that
// the program takes it is below 2.9 bits.
func TestChars(t *testing.T) {
	if _, err := source.Root(); err != nil {
		t.Skip(err)
	}
	steps, most := 60, 4.1
	if testing.Short() {
		steps, most = 10, 6
	}
	picture := filepath.Join(t.TempDir(), "chars.svg")
	bits, written, err := run(t.Context(), steps, picture, "Read returns ", "A")
	if err != nil || bits > most {
		t.Fatalf("a character costs %.2f bits, want %v; %v", bits, most, err)
	}
	for i, prompt := range []string{"Read returns ", "A"} {
		if behind, ok := strings.CutPrefix(written[i], prompt); !ok || len(behind) != 150 {
			t.Errorf("%q goes on as %q", prompt, written[i])
		}
	}
	if svg, err := os.ReadFile(picture); err != nil || !bytes.Contains(svg, []byte("which letter might come next")) {
		t.Errorf("the picture: %v", err)
	}
}
