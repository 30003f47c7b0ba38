package ragged_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ragged"
)

var update = flag.Bool("update", false, "write docs/ragged-coverage.md anew")

const coverageFile = "../docs/ragged-coverage.md"

// TestCoverageTable: the table of what TensorFlow's ragged tensors and Awkward Array can do
// and what it is called here is up to date. testdata/coverage.txt says which identifiers
// answer an operation ("=") or why none does ("-"); whether they exist and are documented is
// read from the source, and how ragged tensors answer the operations of package ops from the
// table of their handlers.
func TestCoverageTable(t *testing.T) {
	text, err := os.ReadFile("testdata/coverage.txt")
	if err != nil {
		t.Fatal(err)
	}
	source := &documentation{packages: map[string]map[string]bool{}}
	var b strings.Builder
	fmt.Fprintln(&b, "# What ragged tensors can do, and what it is called elsewhere")
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
	operations(&b, t)
	if *update {
		if err := os.WriteFile(coverageFile, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(coverageFile)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(have), b.String()); d != "" {
		t.Errorf("%s is not up to date: run go test ./ragged -run Coverage -update\n%s", coverageFile, d)
	}
}

// paths are the import paths of packages below the module's.
var paths = map[string]string{
	"ops": "ops", "rows": "ops/rows", "ragged": "ragged", "structured": "structured", "jsonl": "jsonl", "control": "control", "tensor": "tensor",
	"arrowio": "arrowio",
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

// notForRows says why operations of package ops have no meaning for ragged tensors, or who
// does it instead.
var notForRows = map[string]string{
	"attend":                 "what graphs make of contractions around a softmax; rows.Attention works on rows of different lengths",
	"attention":              "rows.Attention works on rows of different lengths",
	"broadcast_to":           "ragged.BroadcastTo takes a ragged shape",
	"contract":               "the plan of einsum, which takes ragged operands by labels",
	"diag":                   "a diagonal matrix of each row has no common size; of uniform rows ops.Diag takes the flat values",
	"diag_part":              "the diagonal of the two outermost dimensions, whose rows differ in length",
	"outer":                  "ops.Mul with new axes broadcasts by rows",
	"reverse_sequence":       "ops.Reverse turns each ragged row around by its own length",
	"scatter_nd":             "the shape it makes is dense",
	"tensor_scatter_add":     "coordinates name elements of a dense tensor; ops.AddAlongAxis adds in rows",
	"tensor_scatter_max":     "as tensor_scatter_add",
	"tensor_scatter_min":     "as tensor_scatter_add",
	"tensor_scatter_update":  "ops.PutAlongAxis and ops.IndexUpdate write in rows",
	"mirror_pad":             "rows shorter than the padding have no reflection",
	"sum_to":                 "the gradient of broadcasting, recorded on flat values",
	"spread":                 "the gradient of a reduction, recorded on flat values",
	"strings.split":          "ragged.SplitStrings",
	"strings.bytes_split":    "ragged.SplitBytes",
	"strings.unicode_split":  "ragged.SplitChars",
	"strings.unicode_decode": "ragged.DecodeStrings",
}

// operations lists how ragged tensors answer each operation of the catalogue.
func operations(b *strings.Builder, t *testing.T) {
	fmt.Fprintf(b, "\n## Operations of package ops\n\nHow a ragged tensor answers: elementwise operations by one rule, others by one of their own.\n\n| operation | answered |\n|---|---|\n")
	all := slices.Clone(op.All())
	slices.SortFunc(all, func(x, y *op.Op) int { return strings.Compare(x.Name, y.Name) })
	for _, o := range all {
		switch {
		case strings.HasPrefix(o.Name, "ragged.") || strings.HasPrefix(o.Name, "control.") || strings.HasPrefix(o.Name, "grad.") ||
			strings.HasPrefix(o.Name, "random_") || strings.HasPrefix(o.Name, "example.") || strings.HasSuffix(o.Name, "_grad") || o.Class == op.Creation:
			continue // not asked: operations on plain tensors, or without tensors
		}
		how := ragged.Answers(o)
		if how == "" {
			reason, ok := notForRows[o.Name]
			if !ok {
				t.Errorf("ragged tensors do not answer %s, and nobody says why", o.Name)
			}
			how = "no: " + reason
		}
		fmt.Fprintf(b, "| %s | %s |\n", o.Name, how)
	}
}
