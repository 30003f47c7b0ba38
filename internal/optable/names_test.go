package optable

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenonml/tenon/op"
)

// Errors name the Go function that a user has called. Operations that have none are
// made by gradients and by other operations only.
func TestFunctionsExist(t *testing.T) {
	internal := map[string]bool{
		"softmax_grad": true, "log_softmax_grad": true, "softmax_cross_entropy_grad": true, "layer_norm_grad": true, "rms_norm_grad": true,
		"linalg.cofactors": true,
	}
	declared := map[string]map[string]bool{}
	for _, o := range op.All() {
		pkg, name, _ := strings.Cut(o.Func(), ".")
		dir := map[string]string{"ops": "ops", "strings": "ops", "linalg": "linalg"}[pkg]
		if dir == "" || internal[o.Name] {
			continue // a package whose own tests say which functions it has
		}
		if declared[dir] == nil {
			declared[dir] = functions(t, filepath.Join("..", "..", dir))
		}
		if !declared[dir][name] {
			t.Errorf("operation %s is called %s in errors, which package %s does not declare", o.Name, o.Func(), dir)
		}
	}
}

func functions(t *testing.T, dir string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v", dir, err)
	}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.IsExported() {
				out[fn.Name.Name] = true
			}
		}
	}
	return out
}
