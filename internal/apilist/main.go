// Command apilist lists the exported identifiers of each package of the module, one per line, in files of
// the folder api, so that API changes are visible in reviews.
//
//	go run ./internal/apilist -w
package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	log.SetFlags(0)
	write := flag.Bool("w", false, "write the files")
	flag.Parse()
	lists, err := all(".")
	if err == nil && *write {
		err = replace("api", lists)
	}
	if err != nil {
		log.Fatal(err)
	}
	if !*write {
		for _, name := range slices.Sorted(keys(lists)) {
			fmt.Printf("== %s\n%s", name, lists[name])
		}
	}
}

func keys(m map[string]string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// replace makes a folder contain exactly these files.
func replace(dir string, lists map[string]string) error {
	old, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return err
	}
	for _, name := range old {
		if _, ok := lists[filepath.Base(name)]; !ok {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, text := range lists {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// all returns the lists of all packages below a folder that others can import, by file name.
func all(root string) (map[string]string, error) {
	lists := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		rel := filepath.ToSlash(strings.TrimPrefix(strings.TrimPrefix(path, root), string(filepath.Separator)))
		switch base := filepath.Base(path); {
		case rel == "":
		case base == "internal" || base == "testdata" || base == "cmd" || base == "examples" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_"):
			return filepath.SkipDir
		default:
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
				return filepath.SkipDir // another module
			}
		}
		list, err := exported(path)
		if err == nil && list != "" {
			name := strings.ReplaceAll(rel, "/", "_")
			if name == "" {
				name = "tenon"
			}
			lists[name+".txt"] = list
		}
		return err
	})
	return lists, err
}

// exported returns the exported identifiers of the package in a folder, for Linux on amd64.
func exported(dir string) (string, error) {
	c := build.Default
	c.GOOS, c.GOARCH, c.CgoEnabled = "linux", "amd64", false
	p, err := c.ImportDir(dir, 0)
	if _, none := err.(*build.NoGoError); none || err == nil && p.Name == "main" {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var lines []string
	set := token.NewFileSet()
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(set, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return "", err
		}
		for _, d := range f.Decls {
			lines = append(lines, declared(set, d)...)
		}
	}
	slices.Sort(lines)
	if len(lines) == 0 {
		return "", nil
	}
	return strings.Join(slices.Compact(lines), "\n") + "\n", nil
}

// text returns a node on one line.
func text(set *token.FileSet, n any) string {
	var b bytes.Buffer
	if err := printer.Fprint(&b, set, n); err != nil {
		return err.Error()
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func declared(set *token.FileSet, d ast.Decl) (lines []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if !d.Name.IsExported() {
			return nil
		}
		f := ast.FuncDecl{Name: d.Name, Recv: d.Recv, Type: d.Type}
		if d.Recv != nil && !receiver(d.Recv.List[0].Type) {
			return nil
		}
		return []string{text(set, &f)}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				for _, n := range s.Names {
					if n.IsExported() {
						line := d.Tok.String() + " " + n.Name
						if s.Type != nil {
							line += " " + text(set, s.Type)
						}
						lines = append(lines, line)
					}
				}
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					lines = append(lines, types(set, s)...)
				}
			}
		}
	}
	return lines
}

// receiver reports whether methods of a type are seen from outside.
func receiver(t ast.Expr) bool {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.IsExported()
	}
	return false
}

// types are a type, its fields and its methods, each in a line.
func types(set *token.FileSet, s *ast.TypeSpec) []string {
	head := "type " + s.Name.Name
	if s.TypeParams != nil {
		var params []string
		for _, f := range s.TypeParams.List {
			for _, n := range f.Names {
				params = append(params, n.Name+" "+text(set, f.Type))
			}
		}
		head += "[" + strings.Join(params, ", ") + "]"
	}
	if s.Assign.IsValid() {
		return []string{head + " = " + text(set, s.Type)}
	}
	var list *ast.FieldList
	kind := ""
	switch t := s.Type.(type) {
	case *ast.StructType:
		kind, list = "struct", t.Fields
	case *ast.InterfaceType:
		kind, list = "interface", t.Methods
	default:
		return []string{head + " " + text(set, s.Type)}
	}
	lines := []string{head + " " + kind}
	for _, f := range list.List {
		if len(f.Names) == 0 && (kind == "interface" || receiver(f.Type) || selected(f.Type)) {
			lines = append(lines, head+" "+kind+", "+text(set, f.Type))
		}
		for _, n := range f.Names {
			if n.IsExported() {
				lines = append(lines, head+" "+kind+", "+n.Name+" "+text(set, f.Type))
			} else if kind == "interface" {
				lines = append(lines, head+" "+kind+", unexported methods")
			}
		}
	}
	return lines
}

// selected reports whether a type is that of another package.
func selected(t ast.Expr) bool {
	if p, ok := t.(*ast.StarExpr); ok {
		t = p.X
	}
	_, ok := t.(*ast.SelectorExpr)
	return ok
}
