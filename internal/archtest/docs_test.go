package archtest

import (
	"go/ast"
	"go/token"
	"path"
	"strings"
	"testing"
)

// TestPackagesAreDocumented wants the overview of each package in its doc.go, or
// for a program in its main.go.
func TestPackagesAreDocumented(t *testing.T) {
	docs := map[string]string{} // package → the file with its overview
	main := map[string]bool{}
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		if _, ok := docs[f.pkg]; !ok {
			docs[f.pkg] = ""
		}
		main[f.pkg] = f.ast.Name.Name == "main"
		if doc := f.ast.Doc.Text(); doc != "" {
			base := path.Base(f.path)
			if base != "doc.go" && !(base == "main.go" && main[f.pkg]) {
				t.Errorf("%s: the overview of a package stands in doc.go", f.path)
			}
			want := "Package " + f.ast.Name.Name + " "
			if main[f.pkg] {
				want = "Command "
			}
			if !strings.HasPrefix(doc, want) {
				t.Errorf("%s: the overview does not begin with %q", f.path, want)
			}
			docs[f.pkg] = f.path
		}
	}
	for pkg, file := range docs {
		if file == "" {
			t.Errorf("%s: the package has no overview", pkg)
		}
	}
}

// TestExportedIdentifiersAreDocumented wants a comment on every exported type,
// function, method, constant and variable. A group of constants or variables may
// share one.
func TestExportedIdentifiersAreDocumented(t *testing.T) {
	for _, f := range sources(t) {
		if f.test || f.ast.Name.Name == "main" {
			continue
		}
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && exportedReceiver(d) && d.Doc.Text() == "" {
					t.Errorf("%s: %s is not documented", at(d), d.Name.Name)
				}
			case *ast.GenDecl:
				if d.Tok != token.IMPORT {
					undocumented(t, d)
				}
			}
		}
	}
}

func exportedReceiver(d *ast.FuncDecl) bool {
	name := receiver(d)
	return name == "" || ast.IsExported(name)
}

// receiver is the name of the type of a method, and nothing for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	x := d.Recv.List[0].Type
	for {
		switch y := x.(type) {
		case *ast.StarExpr:
			x = y.X
		case *ast.IndexExpr:
			x = y.X
		case *ast.IndexListExpr:
			x = y.X
		case *ast.Ident:
			return y.Name
		default:
			return ""
		}
	}
}

func undocumented(t *testing.T, d *ast.GenDecl) {
	for _, spec := range d.Specs {
		var ids []*ast.Ident
		var doc string
		switch s := spec.(type) {
		case *ast.TypeSpec:
			ids, doc = []*ast.Ident{s.Name}, s.Doc.Text()+s.Comment.Text()
			if !d.Lparen.IsValid() {
				doc += d.Doc.Text()
			}
		case *ast.ValueSpec:
			ids, doc = s.Names, s.Doc.Text()+s.Comment.Text()+d.Doc.Text()
		}
		for _, id := range ids {
			if id.IsExported() && doc == "" {
				t.Errorf("%s: %s is not documented", at(id), id.Name)
			}
		}
	}
}
