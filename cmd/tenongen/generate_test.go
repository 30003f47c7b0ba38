package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCurrent wants the checked-in file to be what the generator writes.
func TestCurrent(t *testing.T) {
	dir := filepath.Join("internal", "sample")
	got, err := Generate(dir, []string{"Everything", "Three", "Graph"}, "sample_tenon.go")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join(dir, "sample_tenon.go"))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("sample_tenon.go is not what the generator writes: run go generate in " + dir)
	}
}

func TestErrors(t *testing.T) {
	for name, c := range map[string]struct{ dir, typ, want string }{
		"no such type":      {filepath.Join("internal", "sample"), "Nothing", "no type Nothing"},
		"no struct":         {filepath.Join("internal", "bad"), "Number", "not a struct"},
		"a channel":         {filepath.Join("internal", "bad"), "Channel", "C: a chan int is neither"},
		"not exported":      {filepath.Join("internal", "bad"), "Hidden", "x: the field is not exported"},
		"holds itself":      {filepath.Join("internal", "bad"), "Tree", "is recursive"},
		"keys of a map":     {filepath.Join("internal", "bad"), "Keys", "neither a Value nor static data"},
		"no such directory": {filepath.Join("internal", "none"), "X", "go list"},
	} {
		_, err := Generate(c.dir, []string{c.typ}, "out.go")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	if err := run(".", "", ""); err == nil {
		t.Error("no types at all")
	}
}
