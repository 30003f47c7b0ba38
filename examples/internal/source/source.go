// Package source reads the standard library's own source, which every machine with Go has.
package source

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"iter"
	"os/exec"
	"path/filepath"
	"strings"
)

// Root returns the folder of the source. It is an error where there is no command go that knows it.
func Root() (string, error) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("the command go does not say where the standard library is: %w", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "src"), nil
}

// Files returns the files of packages that are no tests, and the package of each.
func Files(packages ...string) iter.Seq2[string, *ast.File] {
	return func(yield func(string, *ast.File) bool) {
		root, err := Root()
		if err != nil {
			panic(err)
		}
		for _, p := range packages {
			names, err := filepath.Glob(filepath.Join(root, p, "*.go"))
			if err != nil {
				panic(err)
			}
			for _, name := range names {
				if strings.HasSuffix(name, "_test.go") {
					continue
				}
				f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
				if err == nil && !yield(p, f) {
					return
				}
			}
		}
	}
}

// Functions returns the functions and methods of packages that are written in Go, and the package of each.
func Functions(packages ...string) iter.Seq2[string, *ast.FuncDecl] {
	return func(yield func(string, *ast.FuncDecl) bool) {
		for p, file := range Files(packages...) {
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil && !yield(p, f) {
					return
				}
			}
		}
	}
}
