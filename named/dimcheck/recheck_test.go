package dimcheck

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/packages"
)

// thousandLines returns a package of 1,000 lines of attention heads.
func thousandLines() string {
	var b strings.Builder
	b.WriteString("package big\n\nimport (\n\t\"github.com/tenonml/tenon/named\"\n\t. \"github.com/tenonml/tenon/named/dimcheck/testdata/src/names\"\n)\n")
	for i := 0; strings.Count(b.String(), "\n") < 990; i++ {
		fmt.Fprintf(&b, `
func head%d(in AttnIn, queryM, keyM KqMatrix, valueM ValueMatrix) AttnOut {
	queries := named.Dot[InputRep](in, queryM)
	keys := named.Rename[Seq, KeySeq](named.Dot[InputRep](in, keyM))
	values := named.Rename[Seq, KeySeq](named.Dot[InputRep](in, valueM))
	weights := named.Softmax[KeySeq](named.Dot[KqRep](queries, keys))
	for range 3 {
		weights = named.Mul(weights, 2)
	}
	return named.Bind[AttnOut](named.Dot[KeySeq](values, weights))
}

func batched%d(in BatchedIn, queryM, keyM KqMatrix, valueM ValueMatrix) *named.Tensor {
	f := func(in AttnIn) AttnOut { return head%d(in, queryM, keyM, valueM) }
	return named.Sum[Batch](named.Lift[Batch](f)(in.AttnIn))
}
`, i, i, i)
	}
	b.WriteString("\nfunc wrong(in AttnIn) *named.Tensor { return named.Sum[Foo](in) }\n")
	return b.String()
}

// A changed package of 1,000 lines is parsed, typed and checked in well under half a
// second.
func BenchmarkRecheck(b *testing.B) {
	deps := map[string]*types.Package{}
	for _, p := range load(b, packages.LoadSyntax|packages.NeedDeps|packages.NeedTypes, "./named", "./named/dimcheck/testdata/src/names") {
		if strings.HasSuffix(p.ID, "]") || p.Types == nil {
			continue
		}
		deps[p.PkgPath] = p.Types
		packages.Visit([]*packages.Package{p}, nil, func(q *packages.Package) { deps[q.PkgPath] = q.Types })
	}
	src := thousandLines()
	b.ResetTimer()
	for range b.N {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "big.go", src, parser.ParseComments)
		if err != nil {
			b.Fatal(err)
		}
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
			Selections: map[*ast.SelectorExpr]*types.Selection{}, Implicits: map[ast.Node]types.Object{}, Instances: map[*ast.Ident]types.Instance{}, Scopes: map[ast.Node]*types.Scope{}, FileVersions: map[*ast.File]string{}}
		conf := types.Config{Importer: imports(deps), GoVersion: "go1.26"}
		pkg, err := conf.Check("big", fset, []*ast.File{file}, info)
		if err != nil {
			b.Fatal(err)
		}
		found := 0
		pass := &analysis.Pass{Analyzer: Analyzer, Fset: fset, Files: []*ast.File{file}, Pkg: pkg, TypesInfo: info,
			Report:            func(analysis.Diagnostic) { found++ },
			AllPackageFacts:   func() []analysis.PackageFact { return nil },
			ExportPackageFact: func(analysis.Fact) {},
		}
		if _, err := Analyzer.Run(pass); err != nil {
			b.Fatal(err)
		}
		if found != 1 {
			b.Fatalf("got %d diagnostics", found)
		}
	}
}

// imports finds packages that have been loaded.
type imports map[string]*types.Package

func (m imports) Import(path string) (*types.Package, error) {
	if p, ok := m[path]; ok {
		return p, nil
	}
	return nil, fmt.Errorf("no package %s", path)
}
