package dimcheck

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/packages"
)

// load loads packages of the module with their tests.
func load(t testing.TB, mode packages.LoadMode, patterns ...string) []*packages.Package {
	t.Helper()
	pkgs, err := packages.Load(&packages.Config{Mode: mode, Dir: "../..", Tests: true}, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	return pkgs
}

// reports runs the analyzer on packages that need no facts of others, and returns its
// diagnostics by file and line.
func reports(t *testing.T, pkgs []*packages.Package) map[string]map[int]string {
	t.Helper()
	out := map[string]map[int]string{}
	for _, p := range pkgs {
		if len(p.Errors) > 0 {
			t.Fatal(p.Errors[0])
		}
		pass := &analysis.Pass{Analyzer: Analyzer, Fset: p.Fset, Files: p.Syntax, Pkg: p.Types, TypesInfo: p.TypesInfo,
			AllPackageFacts:   func() []analysis.PackageFact { return nil },
			ExportPackageFact: func(analysis.Fact) {},
			Report: func(d analysis.Diagnostic) {
				at := p.Fset.Position(d.Pos)
				file := at.Filename[strings.LastIndexByte(at.Filename, '/')+1:]
				if out[file] == nil {
					out[file] = map[int]string{}
				}
				out[file][at.Line] = d.Message
			},
		}
		if _, err := Analyzer.Run(pass); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// What is reported has the words of the error at run time, which the test of package
// named pins; and the programs among its tests that are right have nothing to report.
func TestWordsOfRunTime(t *testing.T) {
	pkgs := load(t, packages.LoadSyntax, "./named", "./examples/gosearch/...")
	got := reports(t, pkgs)
	table := errorTable(t, pkgs)
	if len(table) < 12 {
		t.Fatalf("found %d errors at run time", len(table))
	}
	number := regexp.MustCompile(`(errors_test\.go):\d+`)
	at := regexp.MustCompile(`(?m)^  at named/errors_test\.go:0\n?`)
	for line, want := range table {
		want = strings.TrimSuffix(at.ReplaceAllString(want, ""), "\n")
		if strings.HasPrefix(want, "named.Sum: got float32[2]") { // a tensor without names, which is not followed
			continue
		}
		if d := cmp.Diff(want, number.ReplaceAllString(got["errors_test.go"][line], "$1:0")); d != "" {
			t.Errorf("line %d: run time (-), dimcheck (+):\n%s", line, d)
		}
	}
	for _, file := range []string{"transformer_test.go", "gtensor_test.go", "contract_test.go", "ragged_test.go", "bench_test.go", "permute_test.go", "main.go"} {
		for line, msg := range got[file] {
			t.Errorf("%s:%d: %s", file, line, msg)
		}
	}
	// The example that shows an error is the only one that has one.
	if e := got["example_test.go"]; len(e) != 1 {
		t.Errorf("example_test.go: %v", e)
	}
}

// errorTable returns the texts that the test of errors at run time wants, by the line of
// the call that throws them.
func errorTable(t *testing.T, pkgs []*packages.Package) map[int]string {
	t.Helper()
	out := map[int]string{}
	for _, p := range pkgs {
		for _, f := range p.Syntax {
			if !strings.HasSuffix(p.Fset.Position(f.Pos()).Filename, "named/errors_test.go") {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				row, ok := n.(*ast.CompositeLit)
				if !ok || len(row.Elts) != 4 {
					return true
				}
				fn, ok1 := row.Elts[2].(*ast.FuncLit)
				want, ok2 := row.Elts[3].(*ast.BasicLit)
				if ok1 && ok2 && want.Kind == token.STRING {
					if s, err := strconv.Unquote(want.Value); err == nil {
						out[p.Fset.Position(fn.Body.Pos()).Line] = s
					}
				}
				return true
			})
		}
	}
	return out
}

// The words of the compiler for slips that do not compile.
func TestWordsOfCompiler(t *testing.T) {
	want := []string{
		"37: cannot use g2.Foo (variable of struct type Foo) as TokenRep value in argument to g1.TokenRep.Dot",
		"38: g1.TokenRepp undefined (type G1 has no field or method TokenRepp)",
		"39: cannot use g1b (variable of struct type G1B) as G1 value in argument to f",
		"40: undefined: Fooo",
		"41: ambiguous selector g1.Dot",
		`42: cannot use "foo" (untyped string constant) as TokenRep value in argument to g1.TokenRep.Dot`,
		"43: in call to named.Rename[TokenRep], cannot infer To (declared at named.go:0)",
		"44: Bad does not satisfy named.Is[Bad] (wrong type for method self)\n\t\thave self() (Foo)\n\t\twant self() Bad",
		"45: int does not satisfy named.Is[int] (missing method self)",
	}
	var got []string
	place := regexp.MustCompile(`declared at \S+`)
	for _, p := range load(t, packages.LoadSyntax, "./named/dimcheck/testdata/src/slips") {
		for _, e := range p.TypeErrors {
			got = append(got, strconv.Itoa(e.Fset.Position(e.Pos).Line)+": "+place.ReplaceAllString(e.Msg, "declared at named.go:0)"))
		}
	}
	for i := range got {
		got[i] = strings.Replace(got[i], ":0))", ":0)", 1)
	}
	slices.Sort(got)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
