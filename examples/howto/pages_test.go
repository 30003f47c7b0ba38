package howto

import (
	"bytes"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// root is the module's folder.
const root = "../.."

// folder is where the examples keep files.
var folder string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "howto")
	check(err)
	folder = dir
	code := m.Run()
	check(os.RemoveAll(dir))
	os.Exit(code)
}

// check ends an example at an error.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

// A block is a fenced block of a page.
type block struct {
	lang string
	file string // what the reader puts it in, as the fence says: file=NAME
	text string
	line int // of the fence
}

// blocks returns the fenced blocks of a page.
func blocks(page string) []block {
	var out []block
	var open *block
	for i, line := range strings.Split(page, "\n") {
		fence, is := strings.CutPrefix(strings.TrimLeft(line, " "), "```")
		switch {
		case is && open == nil:
			lang, rest, _ := strings.Cut(fence, " ")
			open = &block{lang: lang, line: i + 1}
			open.file, _ = strings.CutPrefix(rest, "file=")
		case is:
			out = append(out, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		}
	}
	return out
}

// pages are the texts of the root and of docs that people read, by name.
func pages(t *testing.T) map[string][]block {
	t.Helper()
	out := map[string][]block{}
	read := func(name string) {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if b := blocks(string(text)); len(b) > 0 {
			out[name] = b
		}
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md"} {
		read(name)
	}
	err := fs.WalkDir(os.DirFS(root), "docs", func(name string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".md") {
			read(name)
		}
		return err
	})
	if err != nil || len(out) < 12 {
		t.Fatalf("%d pages, %v", len(out), err)
	}
	return out
}

// printed is the block behind a program that says what it prints, and "" where there is none.
func printed(all []block, i int) (string, bool) {
	if i+1 < len(all) && all[i+1].lang == "text" {
		return all[i+1].text, true
	}
	return "", false
}

func whole(b block) bool { return b.lang == "go" && strings.HasPrefix(b.text, "package main\n") }

// Go in a page that is no whole program is the body of an example of this package, with what it
// prints below it, or a passage of a file of the module, which is tested where it stands. Every example is in a page.
func TestPagesAreExamples(t *testing.T) {
	outputs := examples(t)
	var module string // all its Go files
	seen := map[string]bool{}
	for name, all := range pages(t) {
		for i, b := range all {
			if b.lang != "go" || whole(b) {
				continue
			}
			want, ok := printed(all, i)
			if !ok {
				if module == "" {
					module = source(t)
				}
				if !strings.Contains(module, b.text) {
					t.Errorf("%s:%d: the passage stands in no file of the module", name, b.line)
				}
				continue
			}
			if out, ok := outputs[b.text]; !ok || strings.TrimSpace(out) != strings.TrimSpace(want) {
				t.Errorf("%s:%d: no example has this program and output:\n%s\n%s\nthe example prints:\n%s", name, b.line, b.text, want, out)
			}
			seen[b.text] = true
		}
	}
	for body := range outputs {
		if !seen[body] {
			t.Errorf("no page has the example\n%s", body)
		}
	}
}

// examples are the outputs of this package's examples by their bodies.
func examples(t *testing.T) map[string]string {
	t.Helper()
	tests, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, name := range tests {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, name, src, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range doc.Examples(f) {
			body := x.Code.(*ast.BlockStmt)
			text := src[set.Position(body.Lbrace).Offset+2 : set.Position(body.Rbrace).Offset]
			text, _, _ = bytes.Cut(text, []byte("\t// Output:"))
			out[strings.ReplaceAll("\n"+string(text), "\n\t", "\n")[1:]] = x.Output
		}
	}
	return out
}

// source is the text of all Go files of the module.
func source(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"testdata", "docs"}, d.Name())):
			return fs.SkipDir
		case strings.HasSuffix(name, ".go"):
			text, err := os.ReadFile(filepath.Join(root, name))
			all.Write(text)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// TestRecipes wants each section of a page of docs/howto to be a recipe: something that is run, and what
// it prints. docs/data has more of them.
func TestRecipes(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(root, "docs", "howto", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	recipes := 0
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, section := range strings.Split(string(text), "\n## ")[1:] {
			title, _, _ := strings.Cut(section, "\n")
			list := blocks(section)
			if !slices.ContainsFunc(list, func(b block) bool { return b.lang == "text" || b.lang == "console" }) {
				t.Errorf("%s: %s: nothing is run", filepath.Base(name), title)
			}
			recipes++
		}
	}
	if recipes < 30 {
		t.Errorf("there are only %d recipes", recipes)
	}
}
