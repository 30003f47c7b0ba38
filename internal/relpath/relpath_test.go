package relpath_test

import (
	"strings"
	"testing"

	"github.com/tenonml/tenon/internal/relpath"
)

func TestCheck(t *testing.T) {
	for _, name := range []string{"a", "a/b.c", "models/Ünïcode/x y", ".hidden", "console", "a..b"} {
		if err := relpath.Check(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{
		"", ".", "..", "../a", "a/../b", "/a", "a//b", "a/", `a\b`, "C:a", "a:stream", "nul", "NUL.txt", "com1", "x/LPT9.log",
		"a ", "a.", "a/b./c", "a\x00b", "a\nb", "a?", "a*", "\xff", strings.Repeat("a", 256), strings.Repeat("a/", 600) + "a",
	} {
		if relpath.Check(name) == nil {
			t.Errorf("%q is taken", name)
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, name := range []string{"a/b", "../a", `a\b`, "nul", "a:b"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if relpath.Check(name) == nil && (strings.Contains("/"+name+"/", "/../") || strings.ContainsAny(name, "\\:\x00") || name[0] == '/') {
			t.Errorf("%q is taken", name)
		}
	})
}
