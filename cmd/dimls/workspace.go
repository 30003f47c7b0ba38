package main

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/packages"

	"github.com/tenonml/tenon/named/dimcheck"
)

// A workspace holds the packages of open files and their dependencies. Packages are loaded
// once, from disk; after that, only the package of a changed file is type-checked and analyzed
// again, against the types and facts of the others.
type workspace struct {
	overlay map[string]string // the text of open files
	pkgs    map[string]*pkg   // by file
	facts   map[string]*dimcheck.Programs
	tried   map[string]string // the imports of files when their packages were last loaded
}

// A pkg is a package with files that may change.
type pkg struct {
	path      string
	files     []string
	goVersion string
	imports   map[string]*types.Package // by the path in the source
}

// A checked is a package after a check.
type checked struct {
	fset        *token.FileSet
	files       map[string]*ast.File
	texts       map[string]string
	pkg         *types.Package
	info        *types.Info
	result      *dimcheck.Result
	diagnostics []analysis.Diagnostic
	fact        *dimcheck.Programs
}

// place returns the position in the text that was read, ignoring line directives.
func (c *checked) place(pos token.Pos) token.Position { return c.fset.PositionFor(pos, false) }

func newWorkspace() *workspace {
	return &workspace{overlay: map[string]string{}, pkgs: map[string]*pkg{}, facts: map[string]*dimcheck.Programs{}, tried: map[string]string{}}
}

// forget makes packages be loaded again when they are needed.
func (w *workspace) forget() {
	clear(w.pkgs)
	clear(w.facts)
	clear(w.tried)
}

// text returns the text of a file.
func (w *workspace) text(file string) (string, error) {
	if t, ok := w.overlay[file]; ok {
		return t, nil
	}
	b, err := os.ReadFile(file)
	return string(b), err
}

// packageOf returns the package of a file. It loads the package if it has not been loaded, or
// if an open file has imports that the package did not have; but only once for the same
// imports.
func (w *workspace) packageOf(file string) (*pkg, error) {
	text, err := w.text(file)
	if err != nil {
		return nil, err
	}
	p, imports := w.pkgs[file], importsOf(text)
	tried, ok := w.tried[file]
	if wanted := strings.Join(imports, "\n"); (p == nil || p.lacks(imports)) && (!ok || tried != wanted) {
		w.tried[file] = wanted
		old := p
		if old != nil {
			for _, f := range old.files {
				delete(w.pkgs, f)
			}
		}
		err := w.load(file)
		if p = w.pkgs[file]; p == nil && old != nil {
			for _, f := range old.files {
				w.pkgs[f] = old
			}
			p = old
		}
		if err != nil && p == nil {
			return nil, err
		}
	}
	if p == nil {
		return nil, fmt.Errorf("%s belongs to no package", file)
	}
	return p, nil
}

// importsOf returns the paths that a file imports, as far as it can be parsed.
func importsOf(text string) []string {
	f, _ := parser.ParseFile(token.NewFileSet(), "", text, parser.ImportsOnly)
	if f == nil {
		return nil
	}
	var out []string
	for _, im := range f.Imports {
		if path, err := strconv.Unquote(im.Path.Value); err == nil {
			out = append(out, path)
		}
	}
	return out
}

func (p *pkg) lacks(imports []string) bool {
	return slices.ContainsFunc(imports, func(path string) bool { return p.imports[path] == nil })
}

// load loads the package of a file. Dependencies in its modules that use names are loaded from
// source, all others from export data.
func (w *workspace) load(file string) error {
	texts := map[string][]byte{}
	for f, t := range w.overlay {
		texts[f] = []byte(t)
	}
	conf := &packages.Config{Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedModule,
		Dir: filepath.Dir(file), Tests: strings.HasSuffix(file, "_test.go"), Overlay: texts}
	roots, err := packages.Load(conf, "file="+file)
	if err != nil {
		return err
	}
	patterns := []string{"file=" + file}
	packages.Visit(roots, nil, func(p *packages.Package) {
		if p.Module != nil && p.Module.Main && usesNames(p) && !strings.Contains(p.ID, " ") && p.PkgPath != namedPath && !strings.HasSuffix(p.PkgPath, ".test") {
			patterns = append(patterns, p.PkgPath)
		}
	})
	conf.Mode = packages.LoadSyntax | packages.NeedModule
	loaded, err := packages.Load(conf, patterns...)
	if err != nil {
		return err
	}
	packages.Visit(loaded, nil, func(p *packages.Package) {
		if slices.Contains(loaded, p) && len(p.CompiledGoFiles) > 0 {
			w.add(p)
		}
	})
	return nil
}

const namedPath = "github.com/tenonml/tenon/named"

// usesNames reports whether a package depends on package named.
func usesNames(p *packages.Package) bool {
	found := false
	packages.Visit([]*packages.Package{p}, func(p *packages.Package) bool {
		found = found || p.PkgPath == namedPath
		return !found
	}, nil)
	return found
}

// add adds a loaded package, after those that it depends on. A package with errors has no
// facts.
func (w *workspace) add(p *packages.Package) {
	q := &pkg{path: p.PkgPath, files: p.CompiledGoFiles, imports: map[string]*types.Package{"unsafe": types.Unsafe}}
	if p.Module != nil && p.Module.GoVersion != "" {
		q.goVersion = "go" + p.Module.GoVersion
	}
	for path, im := range p.Imports {
		q.imports[path] = im.Types
	}
	for _, f := range p.CompiledGoFiles {
		if old := w.pkgs[f]; old == nil || len(old.files) < len(q.files) { // the variant with tests has more files
			w.pkgs[f] = q
		}
	}
	c, err := w.check(q, nil)
	if err == nil && c.fact != nil {
		w.facts[p.PkgPath] = c.fact
	}
}

// check type-checks and analyzes a package, with the text of some files replaced.
func (w *workspace) check(p *pkg, texts map[string]string) (*checked, error) {
	c := &checked{fset: token.NewFileSet(), files: map[string]*ast.File{}, texts: map[string]string{}}
	var files []*ast.File
	for _, name := range p.files {
		text, ok := texts[name]
		if !ok {
			var err error
			if text, err = w.text(name); err != nil {
				return nil, err
			}
		}
		f, err := parser.ParseFile(c.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
		c.files[name], c.texts[name] = f, text
	}
	// A function that does not compile is left out until it compiles again; the others are
	// checked meanwhile.
	for range 3 {
		wrong := c.typeCheck(p, files)
		if len(wrong) == 0 {
			return c, w.analyze(c, p, files)
		}
		if !dropBodies(files, wrong) {
			return nil, wrong[0]
		}
	}
	return nil, fmt.Errorf("%s does not compile", p.path)
}

// typeCheck type-checks the files, and returns the errors that prevent compilation.
func (c *checked) typeCheck(p *pkg, files []*ast.File) []types.Error {
	var wrong []types.Error
	conf := types.Config{GoVersion: p.goVersion, Importer: importer(p.imports), Error: func(err error) {
		if e, ok := errors.AsType[types.Error](err); ok && !e.Soft {
			wrong = append(wrong, e)
		}
	}}
	c.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Implicits: map[ast.Node]types.Object{}, Instances: map[*ast.Ident]types.Instance{},
		Scopes: map[ast.Node]*types.Scope{}, FileVersions: map[*ast.File]string{}}
	c.pkg, _ = conf.Check(p.path, c.fset, files, c.info) // errors are collected
	return wrong
}

// dropBodies removes the bodies of functions that contain errors. It returns false if there is
// an error elsewhere.
func dropBodies(files []*ast.File, wrong []types.Error) bool {
	drop := map[*ast.FuncDecl]bool{}
	for _, e := range wrong {
		at := bodyAt(files, e.Pos)
		if at == nil {
			return false
		}
		drop[at] = true
	}
	for fn := range drop {
		fn.Body = nil
	}
	return true
}

// bodyAt returns the function whose body contains a position.
func bodyAt(files []*ast.File, pos token.Pos) *ast.FuncDecl {
	for _, f := range files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && fn.Body.Pos() <= pos && pos <= fn.Body.End() {
				return fn
			}
		}
	}
	return nil
}

// analyze runs the analyzer. Code that is being edited may be of a kind that compilers never
// pass on; if the analyzer panics on it, it reports nothing, and the server continues.
func (w *workspace) analyze(c *checked, p *pkg, files []*ast.File) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("checking %s: %v", p.path, r)
		}
	}()
	pass := &analysis.Pass{Analyzer: dimcheck.Analyzer, Fset: c.fset, Files: files, Pkg: c.pkg, TypesInfo: c.info, TypesSizes: types.SizesFor("gc", "amd64"),
		Report: func(d analysis.Diagnostic) { c.diagnostics = append(c.diagnostics, d) },
		AllPackageFacts: func() []analysis.PackageFact {
			var out []analysis.PackageFact
			for _, path := range slices.Sorted(maps.Keys(w.facts)) {
				if path != p.path {
					out = append(out, analysis.PackageFact{Package: types.NewPackage(path, ""), Fact: w.facts[path]})
				}
			}
			return out
		},
		ExportPackageFact: func(f analysis.Fact) { c.fact = written(f.(*dimcheck.Programs)) },
	}
	res, err := dimcheck.Analyzer.Run(pass)
	if err != nil {
		return err
	}
	c.result = res.(*dimcheck.Result)
	return nil
}

// written returns a fact in the form that another package reads.
func written(f *dimcheck.Programs) *dimcheck.Programs {
	var b bytes.Buffer
	out := &dimcheck.Programs{}
	if gob.NewEncoder(&b).Encode(f) != nil || gob.NewDecoder(&b).Decode(out) != nil {
		return nil
	}
	return out
}

// importer finds imported packages among those that are loaded.
type importer map[string]*types.Package

// Import returns the package of a path.
func (m importer) Import(path string) (*types.Package, error) {
	if p := m[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("package %s is not loaded", path)
}
