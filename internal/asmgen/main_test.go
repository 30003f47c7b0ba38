package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The checked-in assembly is what the generators write today.
func TestOutputIsCurrent(t *testing.T) {
	for _, f := range families {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := f.generate(dir); err != nil {
				t.Fatal(err)
			}
			for _, name := range f.files() {
				fresh, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil {
					t.Fatal(err)
				}
				have, err := os.ReadFile(filepath.Join(f.target(), name))
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(fresh, have) {
					t.Errorf("%s/%s differs from what internal/asmgen/%s generates: run \"go run . %s\" in internal/asmgen",
						f.pkg, name, f.generator, f.generator)
				}
			}
		})
	}
}
