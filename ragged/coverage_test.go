package ragged_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenonml/tenon/internal/generated"
)

const coverageFile = "../docs/ragged-names.md"

// TestCoverageTable: the table of what TensorFlow's ragged tensors and Awkward Array can do
// and what it is called here is up to date. testdata/coverage.txt says which identifiers
// answer an operation ("=") or why none does ("-"); whether they exist and are documented is
// read from the source.
func TestCoverageTable(t *testing.T) {
	text, err := os.ReadFile("testdata/coverage.txt")
	if err != nil {
		t.Fatal(err)
	}
	source := &documentation{packages: map[string]map[string]bool{}}
	var b strings.Builder
	fmt.Fprintln(&b, "# What TensorFlow and Awkward call what ragged tensors do")
	fmt.Fprintln(&b, "\nMade by `go test ./ragged -run Coverage -update` from ragged/testdata/coverage.txt and the source;")
	fmt.Fprintln(&b, "a test keeps it up to date. Operations of package ops take ragged tensors as they take dense ones.")
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if title, ok := strings.CutPrefix(line, "# "); ok {
			fmt.Fprintf(&b, "\n## %s\n\n| there | here |\n|---|---|\n", title)
			continue
		}
		name, names, found := strings.Cut(line, " = ")
		if !found {
			if name, reason, ok := strings.Cut(line, " - "); ok {
				fmt.Fprintf(&b, "| `%s` | not here: %s |\n", name, reason)
			} else if line != "" {
				t.Errorf("%q is neither an answer nor a reason", line)
			}
			continue
		}
		var links []string
		for _, id := range strings.Fields(names) {
			if err := source.has(id); err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			pkg, rest, _ := strings.Cut(id, ".")
			links = append(links, fmt.Sprintf("[%s](https://pkg.go.dev/github.com/tenonml/tenon/%s#%s)", id, paths[pkg], rest))
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, strings.Join(links, ", "))
	}
	generated.File(t, coverageFile, b.String(), "go test ./ragged -run Coverage -update")
}

// paths are the import paths of packages below the module's.
var paths = map[string]string{
	"ops": "ops", "rows": "ops/rows", "ragged": "ragged", "structured": "structured", "jsonl": "data/jsonl", "control": "control", "tensor": "tensor",
	"arrowio": "data/arrowio", "parquetio": "data/parquetio",
}

// documentation reads which identifiers packages export.
type documentation struct {
	packages map[string]map[string]bool // whether they are documented
}

// has fails unless there is a documented identifier.
func (d *documentation) has(id string) error {
	pkg, name, _ := strings.Cut(id, ".")
	path, ok := paths[pkg]
	if !ok {
		return fmt.Errorf("there is no package %q", pkg)
	}
	if d.packages[pkg] == nil {
		names, err := documented(filepath.Join("..", path))
		if err != nil {
			return err
		}
		d.packages[pkg] = names
	}
	if !d.packages[pkg][name] {
		return fmt.Errorf("there is no %s, or it is not documented", id)
	}
	return nil
}

// documented returns the exported functions and methods of a package.
func documented(dir string) (map[string]bool, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, decl := range parsed.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || !fn.Name.IsExported() {
				continue
			}
			name := fn.Name.Name
			if fn.Recv != nil {
				t := fn.Recv.List[0].Type
				if p, ok := t.(*ast.StarExpr); ok {
					t = p.X
				}
				if p, ok := t.(*ast.IndexExpr); ok { // of a type with a parameter
					t = p.X
				}
				recv, ok := t.(*ast.Ident)
				if !ok {
					continue
				}
				name = recv.Name + "." + name
			}
			out[name] = fn.Doc != nil
		}
	}
	return out, nil
}
