package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
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

// The generators' register allocator knows 32 vector registers, whatever the
// function is for. The upper 16, masks and 512-bit vectors are AVX-512's: in a
// function for AVX2 they would stop the program where that is all there is.
func TestAVX2KeepsToItsRegisters(t *testing.T) {
	function := regexp.MustCompile(`^TEXT ·(\w+)`)
	foreign := regexp.MustCompile(`\b([XY](1[6-9]|2[0-9]|3[01])|Z[0-9]+|K[0-7])\b`)
	for _, f := range families {
		text, err := os.ReadFile(filepath.Join(f.target(), f.files()[0]))
		if err != nil {
			t.Fatal(err)
		}
		name := ""
		for i, line := range strings.Split(string(text), "\n") {
			if m := function.FindStringSubmatch(line); m != nil {
				name = m[1]
			}
			if strings.Contains(name, "AVX2") && foreign.MatchString(line) {
				t.Errorf("%s: line %d of %s: %s", f.files()[0], i+1, name, strings.TrimSpace(line))
				break
			}
		}
	}
}
