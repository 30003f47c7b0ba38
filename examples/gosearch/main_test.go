package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const shop = "internal/decl/testdata/shop"

// gosearch runs the program with a folder of its own and gives its exit status
// and what it wrote.
func gosearch(t *testing.T, ctx context.Context, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return gosearchOut(t, ctx, dir, func(string) {}, args...)
}

// gosearchOut is gosearch with see told of all that is written to the standard output,
// while the command runs.
func gosearchOut(t *testing.T, ctx context.Context, dir string, see func(string), args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Setenv("GOSEARCH_DIR", dir)
	errFile, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer errFile.Close()
	var out bytes.Buffer
	code = run(ctx, append([]string{"gosearch"}, args...), seen{&out, see}, errFile)
	text, err := os.ReadFile(errFile.Name())
	if err != nil {
		t.Fatal(err)
	}
	return code, out.String(), string(text)
}

// A seen writer tells of what passes.
type seen struct {
	to  io.Writer
	see func(string)
}

func (s seen) Write(b []byte) (int, error) {
	n, err := s.to.Write(b)
	s.see(string(b))
	return n, err
}

// errLate says that a process ended before the signal came: on a busy machine what sends it may
// wait for a processor for longer than training takes. Then the test begins again.
var errLate = errors.New("the process ended before the signal came")

// inTime runs f until the signals that it sends come in time.
func inTime(t *testing.T, f func() error) {
	t.Helper()
	const tries = 20
	for range tries {
		if err := f(); !errors.Is(err, errLate) {
			if err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("%v, %d times", errLate, tries)
}

func TestIndex(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "on demand")
	code, out, stderr := gosearch(t, t.Context(), dir, "index", "-src", shop)
	if code != 0 || stderr != "" {
		t.Fatalf("exit status %d, stderr %q", code, stderr)
	}
	file := filepath.Join(dir, "declarations.jsonl")
	if !strings.HasPrefix(out, "8 declarations in 2 packages, 0 files skipped, 0.0 MB in ") || !strings.Contains(out, "\n"+file+"\n\n8 * {package: string, package_name: string, name: string, kind: string, ") {
		t.Errorf("printed %q", out)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(data, []byte("\n")); n != 8 {
		t.Errorf("%d lines, want 8", n)
	}
}

// Questions in files are added to the functions that answer them.
func TestIndexWithQuestions(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "asked.tsv")
	write(t, file, "# as people ask\n\nwhat have i to pay\texample.com/shop/cart.Add example.com/shop.None\nwho is there\texample.com/shop.None\n")
	code, _, stderr := gosearch(t, t.Context(), dir, "index", "-src", shop, "-questions", file)
	if want := file + ": nothing that was read answers 1 of the 2 questions\n"; code != 0 || stderr != want {
		t.Fatalf("exit status %d, stderr %q, want %q", code, stderr, want)
	}
	decls, err := readDeclarations(filepath.Join(dir, declarationsFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range decls {
		if got, want := strings.Join(d.Asked, ";"), map[bool]string{true: "what have i to pay"}[d.QualifiedName() == "cart.Add"]; got != want {
			t.Errorf("%s: asked %q, want %q", d.QualifiedName(), got, want)
		}
	}
}

func TestIndexOfArguments(t *testing.T) {
	code, out, stderr := gosearch(t, t.Context(), t.TempDir(), "index", shop+"/...")
	if code != 0 || stderr != "" || !strings.HasPrefix(out, "8 declarations in 2 packages") {
		t.Errorf("exit status %d, %q, stderr %q", code, out, stderr)
	}
}

func TestIndexNamesSkippedFiles(t *testing.T) {
	src := t.TempDir()
	write(t, filepath.Join(src, "good.go"), "package a\n\n// F does it.\nfunc F() {}\n")
	for i := range 25 {
		write(t, filepath.Join(src, fmt.Sprintf("broken%02d.go", i)), "package a\n\nfunc (\n")
	}
	code, out, stderr := gosearch(t, t.Context(), t.TempDir(), "index", "--src", src)
	if code != 0 || !strings.HasPrefix(out, "1 declarations in 1 packages, 25 files skipped, ") {
		t.Errorf("exit status %d, printed %q", code, out)
	}
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	if len(lines) != 21 || !strings.Contains(lines[0], "/broken00.go: broken00.go:3:") || lines[20] != "skipped 5 more" {
		t.Errorf("stderr %q, want 20 files named and 5 more counted", stderr)
	}
}

func TestIndexInterrupted(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, declarationsFile), "as it was")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	code, out, stderr := gosearch(t, ctx, dir, "index", "-src", shop)
	if code != 130 || out != "" || stderr != "gosearch: interrupted\n" {
		t.Errorf("exit status %d, stdout %q, stderr %q", code, out, stderr)
	}
	entries, _ := os.ReadDir(dir)
	if data, _ := os.ReadFile(filepath.Join(dir, declarationsFile)); string(data) != "as it was" || len(entries) != 1 {
		t.Errorf("the index is %q, beside %v; want it untouched and alone", data, entries)
	}
}

func TestEvalBM25(t *testing.T) {
	// 2,600 functions, each found by the number in its question and its name.
	src, dir := t.TempDir(), t.TempDir()
	var b strings.Builder
	b.WriteString("package a\n")
	for i := range 2600 {
		fmt.Fprintf(&b, "\n// It does thing %d and then stops.\nfunc Thing%d() {}\n", i, i)
	}
	write(t, filepath.Join(src, "a.go"), b.String())
	if code, _, stderr := gosearch(t, t.Context(), dir, "index", "-src", src); code != 0 {
		t.Fatal(stderr)
	}
	code, out, stderr := gosearch(t, t.Context(), dir, "eval", "-bm25", "-seed", "7")
	want := `520 held out by seed 7, looked for among 2600

              MRR   recall@1  recall@10
BM25        1.000      1.000      1.000
`
	if code != 0 || out != want || stderr != "" {
		t.Errorf("exit status %d, stderr %q, printed\n%s\nwant\n%s", code, stderr, out, want)
	}
}

func TestErrors(t *testing.T) {
	empty, foreign := t.TempDir(), t.TempDir()
	write(t, filepath.Join(foreign, declarationsFile), "\x7fELF")
	inFile := filepath.Join(foreign, declarationsFile, "below")
	for _, c := range []struct {
		name, dir string
		args      []string
		code      int
		want      string
	}{
		{"no index", empty, []string{"eval", "-bm25"}, 1, "no index at " + filepath.Join(empty, declarationsFile) + "; make one with gosearch index"},
		{"foreign index", foreign, []string{"eval", "-bm25"}, 1, declarationsFile + ":1: not a declaration"},
		{"no model", empty, []string{"eval"}, 1, "no model at " + filepath.Join(empty, modelFolder) + "; make one with gosearch train"},
		{"no model to ask", empty, []string{"sort", "a", "slice"}, 1, "no model at "},
		{"no model to serve", empty, []string{"serve"}, 1, "no model at "},
		{"empty question", empty, []string{" ?! "}, 2, "the question is empty"},
		{"no answers", empty, []string{"-n", "0", "sort"}, 2, "-n must be at least 1"},
		{"no epochs", empty, []string{"train", "-epochs", "0"}, 2, "-epochs must be at least 1"},
		{"no questions", empty, []string{"index", "-questions", filepath.Join(empty, "none.tsv")}, 1, "none.tsv: no such file"},
		{"questions without answers", empty, []string{"index", "-questions", "main_test.go"}, 1, "main_test.go:1: want a question, a tab, and the functions"},
		{"no source", empty, []string{"index", "-src", empty}, 1, "no Go source in " + empty},
		{"neither folder nor module", empty, []string{"index", "-src", "./nowhere"}, 1, "./nowhere is neither a folder nor a module path"},
		{"folder is a file", inFile, []string{"index", "-src", shop}, 1, "not a directory"},
		{"unknown flag", empty, []string{"index", "-sorce", "x"}, 2, "flag provided but not defined: -sorce"},
		{"flag without value", empty, []string{"index", "-src"}, 2, "flag needs an argument: -src"},
		{"stray argument", empty, []string{"serve", "net/http"}, 2, `serve takes no argument, but "net/http" follows`},
		{"argument that is no source", empty, []string{"index", "net/http"}, 1, "net/http is neither a folder nor a module path"},
		{"folder to train in is a file", inFile, []string{"train"}, 1, "the folder for index and model: mkdir "},
		{"seed that is no number", empty, []string{"eval", "-bm25", "-seed", "x"}, 2, `"x"`},
	} {
		code, out, stderr := gosearch(t, t.Context(), c.dir, c.args...)
		if code != c.code || out != "" || !strings.Contains(stderr, c.want) || !strings.HasPrefix(stderr, "gosearch: ") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit status %d, stdout %q, stderr %q; want %d and one line with %q", c.name, code, out, stderr, c.code, c.want)
		}
	}
}

func TestNoGOROOT(t *testing.T) {
	t.Setenv("GOROOT", t.TempDir())
	code, _, stderr := gosearch(t, t.Context(), t.TempDir(), "index")
	if code != 1 || !strings.Contains(stderr, "no source in GOROOT: ") {
		t.Errorf("GOROOT without source: exit status %d, stderr %q", code, stderr)
	}
	t.Setenv("GOROOT", "")
	t.Setenv("PATH", "")
	code, _, stderr = gosearch(t, t.Context(), t.TempDir(), "index")
	if code != 1 || !strings.HasPrefix(stderr, "gosearch: no GOROOT: ") {
		t.Errorf("no GOROOT and no go command: exit status %d, stderr %q", code, stderr)
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{nil, {"-h"}, {"help"}} {
		code, out, _ := gosearch(t, t.Context(), t.TempDir(), args...)
		if code != 0 || !strings.Contains(out, "find Go functions by what they do") || !strings.Contains(out, "index") {
			t.Errorf("%v: exit status %d, printed %q", args, code, out)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
