package decl

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/doc"
	"go/format"
	"go/parser"
	"go/printer"
	"go/scanner"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// folder is one directory that holds Go files.
type folder struct {
	dir        string // as the file system names it
	importPath string
	display    string // what File starts with
}

// A Skip is a file that could not be used, and why.
type Skip struct {
	File string
	Err  error
}

// extract reads one folder. It never fails: a file that cannot be read or
// parsed is reported as skipped.
func (f folder) extract() (decls []Decl, used *uses, packages int, skipped []Skip) {
	fset := token.NewFileSet()
	used = &uses{counts: map[string]int{}, near: map[string]map[string]int{}}
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return nil, used, 0, []Skip{{f.display, err}}
	}
	packagesByName := map[string][]*ast.File{}
	var tests []*ast.File
	for _, e := range entries {
		name := e.Name()
		if !e.Type().IsRegular() || !strings.HasSuffix(name, ".go") || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
			continue
		}
		src, err := os.ReadFile(filepath.Join(f.dir, name))
		isTest := strings.HasSuffix(name, "_test.go")
		var file *ast.File
		if err == nil {
			file, err = parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
		}
		switch {
		case err != nil:
			skipped = append(skipped, Skip{path.Join(f.display, name), firstError(err)})
		case isTest:
			used.collect(fset, file, f.importPath)
			tests = append(tests, file)
		default:
			used.collect(fset, file, f.importPath)
			packagesByName[file.Name.Name] = append(packagesByName[file.Name.Name], file)
		}
	}
	if len(packagesByName) > 1 { // programs kept beside a package
		delete(packagesByName, "main")
	}
	for _, name := range slices.Sorted(maps.Keys(packagesByName)) {
		keepFirstDocumented(packagesByName[name])
		files := append(packagesByName[name], testsOf(name, tests)...)
		p, err := doc.NewFromFiles(fset, files, f.importPath, doc.AllDecls)
		if err != nil {
			skipped = append(skipped, Skip{f.display, err})
			continue
		}
		packages++
		decls = append(decls, f.fromPackage(fset, p)...)
	}
	slices.SortStableFunc(decls, func(a, b Decl) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return decls, used, packages, skipped
}

// keepFirstDocumented drops, from the files of a package in order of name,
// functions without a comment and those that an earlier file has: go/doc would
// choose among them by the order of a map.
func keepFirstDocumented(files []*ast.File) {
	type key struct{ receiver, name string }
	seen := map[key]bool{}
	for _, file := range files {
		file.Decls = slices.DeleteFunc(file.Decls, func(d ast.Decl) bool {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				return false
			}
			k := key{name: fn.Name.Name}
			if fn.Recv != nil && len(fn.Recv.List) > 0 {
				k.receiver = typeName(types.ExprString(fn.Recv.List[0].Type))
			}
			if seen[k] || strings.TrimSpace(fn.Doc.Text()) == "" {
				return true
			}
			seen[k] = true
			return false
		})
	}
}

// testsOf gives the test files of a package, inside it or beside it.
func testsOf(name string, tests []*ast.File) []*ast.File {
	var out []*ast.File
	for _, t := range tests {
		if strings.TrimSuffix(t.Name.Name, "_test") == name {
			out = append(out, t)
		}
	}
	return out
}

// firstError shortens a parser's list of errors to its first.
func firstError(err error) error {
	if list, ok := err.(scanner.ErrorList); ok && len(list) > 0 {
		return list[0]
	}
	return err
}

func (f folder) fromPackage(fset *token.FileSet, p *doc.Package) []Decl {
	var out []Decl
	through := map[string][]string{} // types that have a method by embedding
	add := func(fn *doc.Func, t *doc.Type) {
		switch {
		case fn.Decl == nil:
		case fn.Level > 0: // a promoted method is its own type's, not this one's
			if t != nil && ast.IsExported(t.Name) {
				key := typeName(fn.Orig) + "." + fn.Name
				through[key] = append(through[key], t.Name)
			}
		default:
			out = append(out, f.fromFunc(fset, p, fn, t))
		}
	}
	for _, fn := range p.Funcs {
		add(fn, nil)
	}
	for _, t := range p.Types {
		for _, fn := range t.Funcs {
			add(fn, t)
		}
		for _, fn := range t.Methods {
			add(fn, t)
		}
		out = append(out, f.fromInterface(fset, p, t)...)
	}
	for i := range out {
		d := &out[i]
		if types := through[d.ReceiverType()+"."+d.Name]; types != nil {
			d.Through = types
		}
	}
	return out
}

// fromInterface gives the methods of an exported interface that have a comment.
func (f folder) fromInterface(fset *token.FileSet, p *doc.Package, t *doc.Type) (out []Decl) {
	for _, s := range t.Decl.Specs {
		spec, ok := s.(*ast.TypeSpec)
		if !ok || spec.Name.Name != t.Name || !ast.IsExported(t.Name) {
			continue
		}
		of, ok := spec.Type.(*ast.InterfaceType)
		if !ok {
			continue
		}
		for _, m := range of.Methods.List {
			typ, ok := m.Type.(*ast.FuncType)
			text := strings.TrimSpace(m.Doc.Text())
			if text == "" {
				text = strings.TrimSpace(m.Comment.Text())
			}
			if !ok || text == "" || len(m.Names) != 1 {
				continue
			}
			fn := &doc.Func{Name: m.Names[0].Name, Doc: text, Decl: &ast.FuncDecl{Name: m.Names[0], Type: typ}}
			d := f.fromFunc(fset, p, fn, t)
			d.Kind, d.Receiver = "method", t.Name
			out = append(out, d)
		}
	}
	return out
}

func (f folder) fromFunc(fset *token.FileSet, p *doc.Package, fn *doc.Func, t *doc.Type) Decl {
	pos := fset.PositionFor(fn.Decl.Pos(), false)
	d := Decl{
		Package: f.importPath, PackageName: p.Name, Name: fn.Name, Kind: "func", Doc: fn.Doc,
		Through: []string{}, Callers: []string{}, Asked: []string{},
		TypeParams: paramsOf(fn.Decl.Type.TypeParams),
		Params:     paramsOf(fn.Decl.Type.Params),
		Results:    paramsOf(fn.Decl.Type.Results),
		PackageDoc: p.Synopsis(p.Doc),
		Examples:   []Example{},
		File:       path.Join(f.display, pos.Filename), Line: pos.Line,
	}
	if t != nil {
		first, _, _ := strings.Cut(t.Doc, "\n\n")
		d.TypeDoc = strings.Join(strings.Fields(first), " ")
	}
	if r := fn.Decl.Recv; r != nil && len(r.List) > 0 {
		d.Kind, d.Receiver = "method", types.ExprString(r.List[0].Type)
	}
	for _, ex := range fn.Examples {
		d.Examples = append(d.Examples, Example{Name: ex.Suffix, Code: exampleCode(fset, ex), Output: ex.Output})
	}
	return d
}

// paramsOf flattens a field list: one Param a name, or one for a type alone.
func paramsOf(list *ast.FieldList) []Param {
	out := []Param{}
	if list == nil {
		return out
	}
	for _, field := range list.List {
		typ := types.ExprString(field.Type)
		if len(field.Names) == 0 {
			out = append(out, Param{Type: typ})
		}
		for _, n := range field.Names {
			out = append(out, Param{n.Name, typ})
		}
	}
	return out
}

// outputComment opens the expected output at an example's end.
var outputComment = regexp.MustCompile(`(?i)//[[:space:]]*(unordered )?output:`)

// exampleCode prints an example: its body without braces and outermost
// indentation, or the whole file where the example is one. The expected output
// is left out; it has a field of its own.
func exampleCode(fset *token.FileSet, ex *doc.Example) string {
	var b bytes.Buffer
	if err := format.Node(&b, fset, &printer.CommentedNode{Node: ex.Code, Comments: ex.Comments}); err != nil {
		return ""
	}
	s := b.String()
	if at := outputComment.FindAllStringIndex(s, -1); len(at) > 0 {
		s = s[:at[len(at)-1][0]]
	}
	if _, ok := ex.Code.(*ast.BlockStmt); ok {
		s = strings.TrimSuffix(strings.TrimPrefix(s, "{"), "}")
		s = strings.ReplaceAll(s, "\n\t", "\n")
	}
	return strings.TrimSpace(s)
}
