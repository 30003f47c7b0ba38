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

	"github.com/tenonml/tenon"
)

// Root returns the folder of the source. It is an error if the go command does not know it.
func Root() (string, error) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("the go command does not report where the standard library is: %w", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "src"), nil
}

// Files returns the files of packages, except for tests, and the package of each. It throws errors.
func Files(packages ...string) iter.Seq2[string, *ast.File] {
	return func(yield func(string, *ast.File) bool) {
		root := tenon.Must(Root())
		for _, p := range packages {
			for _, name := range tenon.Must(filepath.Glob(filepath.Join(root, p, "*.go"))) {
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

// Imports returns the packages of the standard library, and what each of them imports.
func Imports() (paths []string, imports [][]string, err error) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "std").Output()
	if err != nil {
		return nil, nil, fmt.Errorf("the go command does not list the standard library: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		paths, imports = append(paths, words[0]), append(imports, words[1:])
	}
	return paths, imports, nil
}
