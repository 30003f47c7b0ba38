package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// listed is the output of go list for a package.
type listed struct {
	ImportPath string
	Name       string
	Dir        string
	Export     string
	GoFiles    []string
	Error      *struct{ Err string }
}

// load type-checks the package in a directory, without the file that will be written, against
// the export data of its imports.
func load(dir, without string) (*types.Package, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-e", "-json=ImportPath,Name,Dir,Export,GoFiles,Error", ".")
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, stderr.String())
	}
	exports := map[string]string{}
	var last listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[p.ImportPath] = p.Export
		last = p // dependencies come first
	}
	if last.Dir == "" {
		return nil, fmt.Errorf("there is no Go package in %s", dir)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range last.GoFiles {
		if name == without {
			continue
		}
		f, err := parser.ParseFile(fset, filepath.Join(last.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	conf := types.Config{Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("%s does not build", path)
		}
		return os.Open(exports[path])
	})}
	return conf.Check(last.ImportPath, fset, files, nil)
}

// findPackage returns a package that is imported directly or indirectly.
func findPackage(p *types.Package, path string) *types.Package {
	seen := map[*types.Package]bool{}
	var find func(*types.Package) *types.Package
	find = func(p *types.Package) *types.Package {
		if p.Path() == path {
			return p
		}
		seen[p] = true
		for _, q := range p.Imports() {
			if !seen[q] {
				if found := find(q); found != nil {
					return found
				}
			}
		}
		return nil
	}
	return find(p)
}
