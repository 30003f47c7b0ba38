package howto

import (
	"bytes"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

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

// program matches a program of a page and what it prints.
var program = regexp.MustCompile("(?ms)^```go\n(.*?)^```\n+```text\n(.*?)^```$")

// Every program of a page is an example of this package, which go test runs and whose output it
// compares, and every example stands in a page.
func TestPagesAreExamples(t *testing.T) {
	tests, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	outputs := map[string]string{} // of bodies
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
			lines := strings.ReplaceAll("\n"+string(text), "\n\t", "\n")[1:]
			outputs[lines] = x.Output
		}
	}
	pages, err := filepath.Glob("../../docs/data/*.md")
	if err != nil || len(pages) < 6 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	pages = append(pages, "../../docs/serving.md")
	seen := map[string]bool{}
	for _, name := range pages {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		found := program.FindAllSubmatch(text, -1)
		if n := bytes.Count(text, []byte("```go\n")); n != len(found) || n == 0 {
			t.Errorf("%s: %d programs of %d have an output", name, len(found), n)
		}
		for _, m := range found {
			body := string(m[1])
			if out, ok := outputs[body]; !ok || strings.TrimSpace(out) != strings.TrimSpace(string(m[2])) {
				t.Errorf("%s: no example has this program and output:\n%s\n%s\nthe example prints:\n%s", name, body, m[2], out)
			}
			seen[body] = true
		}
	}
	for body := range outputs {
		if !seen[body] {
			t.Errorf("no page has the example\n%s", body)
		}
	}
}
