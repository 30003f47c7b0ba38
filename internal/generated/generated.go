package generated

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the files that the tests generate anew")

// Update reports whether generated files should be written.
func Update() bool { return *update }

// File compares a file with the contents that a test generates, and writes it if the test has the flag
// -update. how is the command that does so.
func File(t testing.TB, name, text, how string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(name)
	if err != nil {
		t.Errorf("%v: run %s", err, how)
		return
	}
	a, b := strings.Split(string(have), "\n"), strings.Split(text, "\n")
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a) || i >= len(b):
			t.Errorf("%s has %d lines, want %d: run %s", name, len(a), len(b), how)
		case a[i] != b[i]:
			t.Errorf("%s is not up to date: run %s\nline %d is\n%s\nnow\n%s", name, how, i+1, a[i], b[i])
		default:
			continue
		}
		return
	}
}
