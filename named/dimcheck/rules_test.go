package dimcheck

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenonml/tenon/ops/key"

	"github.com/tenonml/tenon/internal/dimtext"
)

// Every function of package named that gives a tensor has a rule, and every rule is of a
// function.
func TestEveryOperationHasARule(t *testing.T) {
	paths, err := filepath.Glob("../*.go")
	if err != nil {
		t.Fatal(err)
	}
	declared := map[string]bool{}
	for _, path := range paths {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !fn.Name.IsExported() || fn.Recv != nil || strings.HasSuffix(path, "_test.go") {
				continue
			}
			declared["named."+fn.Name.Name] = true
			if fn.Type.Results == nil || fn.Name.Name == "Renaming" { // of a map, which is not followed
				continue
			}
			for _, r := range fn.Type.Results.List {
				if star, ok := r.Type.(*ast.StarExpr); ok && fmt.Sprint(star.X) == "Tensor" && namedRules["named."+fn.Name.Name] == nil && operationOf(fn.Name.Name).effect == 0 {
					t.Errorf("%s has no rule", fn.Name.Name)
				}
			}
		}
	}
	for key := range namedRules {
		if strings.Count(key, ".") == 1 && !declared[key] {
			t.Errorf("there is a rule for %s, which does not exist", key)
		}
	}
}

// Ranges select as many positions as they do at run time.
func TestSpan(t *testing.T) {
	bounds := []any{nil, 0, 1, 3, 5, 9, -1, -4, -5, -6}
	number := func(x any) *val {
		if i, ok := x.(int); ok {
			return &val{Kind: numberKind, Number: i}
		}
		return nil
	}
	for n := range 7 {
		for _, start := range bounds {
			for _, stop := range bounds {
				for _, step := range []any{nil, 1, 2, 3, -1, -2, -7} {
					_, want, _, known, err := key.Range(start, stop, step).Span(n)
					if got := span(n, rangeOf(number(start), number(stop), number(step))); got != want || !known || err != nil {
						t.Errorf("%v:%v:%v of %d = %d, want %d", start, stop, step, n, got, want)
					}
				}
			}
		}
	}
	for _, r := range []*val{rangeOf(someInt, nil, nil), rangeOf(nil, anything, nil), rangeOf(nil, nil, someInt), rangeOf(nil, nil, number(0))} {
		if got := span(5, r); got != dimtext.Absent {
			t.Errorf("got %d, want an unknown size", got)
		}
	}
}
