package tutorial

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// program matches a program of a text and what it prints.
var program = regexp.MustCompile("(?ms)^```go\n(package main\n.*?)^```\n+```text\n(.*?)^```$")

// Every program of the tutorial and of the README is compiled and run, and prints what
// stands below it.
func TestTutorial(t *testing.T) { compare(t, filepath.Join("docs", "tutorial.md"), 7) }

func TestReadme(t *testing.T) { compare(t, "README.md", 3) }

func compare(t *testing.T, name string, least int) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	found := program.FindAllSubmatch(text, -1)
	if all := regexp.MustCompile("(?m)^```go$").FindAll(text, -1); len(found) != len(all) || len(all) < least {
		t.Fatalf("%d programs of %d have an output", len(found), len(all))
	}
	for i, m := range found {
		t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "main.go")
			if err := os.WriteFile(file, m[1], 0o644); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			run := exec.CommandContext(ctx, "go", "run", file)
			run.Dir = root
			out, err := run.CombinedOutput()
			if err != nil || string(out) != string(m[2]) {
				t.Errorf("%v, printed\n%s\nwant\n%s", err, out, m[2])
			}
		})
	}
}
