package archtest

import (
	"go/ast"
	"go/doc"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestWhatIsNotObviousHasAnExample wants an example, whose output is compared, of each exported function that is not
// obvious: one that takes a function, options, or more than three parameters. The operations of package ops go by family:
// each file has one at least that an example shows.
func TestWhatIsNotObviousHasAnExample(t *testing.T) {
	files := sources(t)
	shown := map[string]bool{}
	for _, f := range files {
		if f.test {
			showing(f, shown)
		}
	}
	functions := 0
	for _, f := range files {
		if f.test || !public(f.pkg) || f.ast.Name.Name == "main" {
			continue
		}
		family, known := "", false
		for _, d := range f.ast.Decls {
			d, ok := d.(*ast.FuncDecl)
			if !ok || d.Recv != nil || !d.Name.IsExported() {
				continue
			}
			functions++
			here := shown[f.pkg+"."+d.Name.Name]
			family, known = d.Name.Name, known || here
			if why := notObvious(d.Type); f.pkg != "ops" && why != "" && !here && !closed(f, d.Type) {
				t.Errorf("%s: %s takes %s and no example shows it", at(d), d.Name.Name, why)
			}
		}
		if f.pkg == "ops" && family != "" && !known {
			t.Errorf("%s: no example shows an operation of this family, such as %s", f.path, family)
		}
	}
	if functions < 1000 {
		t.Errorf("only %d functions were found", functions)
	}
}

// closed reports whether nobody outside of the module can call a function, since it takes something of an internal package.
func closed(f *file, typ *ast.FuncType) bool {
	return slices.ContainsFunc(typ.Params.List, func(p *ast.Field) bool {
		s, ok := p.Type.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		name, ok := s.X.(*ast.Ident)
		return ok && slices.ContainsFunc(f.ast.Imports, func(i *ast.ImportSpec) bool {
			p := strings.Trim(i.Path.Value, `"`)
			return path.Base(p) == name.Name && !public(strings.TrimPrefix(p, module+"/"))
		})
	})
}

// notObvious says what of a function asks for an example.
func notObvious(f *ast.FuncType) string {
	n := 0
	for _, p := range f.Params.List {
		n += max(len(p.Names), 1)
		typ := p.Type
		if v, ok := typ.(*ast.Ellipsis); ok {
			typ = v.Elt
		}
		if x, ok := typ.(*ast.IndexExpr); ok {
			typ = x.X
		}
		if x, ok := typ.(*ast.IndexListExpr); ok {
			typ = x.X
		}
		name := ""
		switch typ := typ.(type) {
		case *ast.FuncType:
			return "a function"
		case *ast.Ident:
			name = typ.Name
		case *ast.SelectorExpr:
			name = typ.Sel.Name
		}
		if strings.HasSuffix(name, "Options") {
			return "options"
		}
	}
	if n > 3 {
		return strconv.Itoa(n) + " parameters"
	}
	return ""
}

// showing notes what the examples of a file, and the methods of types beside them, use of the module's packages.
func showing(f *file, shown map[string]bool) {
	pkgs := map[string]string{}
	for _, i := range f.ast.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err != nil || p != module && !strings.HasPrefix(p, module+"/") {
			continue
		}
		name, pkg := path.Base(p), strings.TrimPrefix(strings.TrimPrefix(p, module), "/")
		if i.Name != nil {
			name = i.Name.Name
		}
		if pkg == "" {
			pkg = "tenon"
		}
		pkgs[name] = pkg
	}
	var code []ast.Node
	for _, e := range doc.Examples(f.ast) {
		if e.Output != "" || e.EmptyOutput {
			code = append(code, e.Code)
		}
	}
	if len(code) == 0 {
		return
	}
	for _, d := range f.ast.Decls { // types that examples have beside them
		if d, ok := d.(*ast.FuncDecl); ok && d.Recv != nil {
			code = append(code, d)
		}
	}
	for _, c := range code {
		ast.Inspect(c, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && pkgs[x.Name] != "" {
					shown[pkgs[x.Name]+"."+s.Sel.Name] = true
				}
			}
			return true
		})
	}
}
