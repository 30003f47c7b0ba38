package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const (
	root   = "../.."
	module = "github.com/tenonml/tenon"
)

// file is a Go file of the module.
type file struct {
	path string // from the root, with slashes
	pkg  string // the package's path in the module; the root is "tenon"
	ast  *ast.File
	test bool
}

func (f *file) generated() bool { return ast.IsGenerated(f.ast) }

var fset = token.NewFileSet()

// load parses all Go files of the module once. Modules inside it, data for tests
// and hidden folders are left out.
var load = sync.OnceValues(func() ([]*file, error) {
	var files []*file
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if rel == "." {
				return nil
			}
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "bin" {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") {
			return nil
		}
		f, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		pkg := "tenon"
		if i := strings.LastIndexByte(rel, '/'); i >= 0 {
			pkg = rel[:i]
		}
		files = append(files, &file{path: rel, pkg: pkg, ast: f, test: strings.HasSuffix(rel, "_test.go")})
		return nil
	})
	return files, err
})

func sources(t *testing.T) []*file {
	t.Helper()
	files, err := load()
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 100 {
		t.Fatalf("only %d files were found", len(files))
	}
	return files
}

// at prints the place of a node.
func at(n ast.Node) string {
	p := fset.Position(n.Pos())
	rel, err := filepath.Rel(root, p.Filename)
	if err != nil {
		rel = p.Filename
	}
	return filepath.ToSlash(rel) + ":" + strconv.Itoa(p.Line)
}
