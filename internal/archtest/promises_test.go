package archtest

import (
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

// public reports whether others can import a package.
func public(pkg string) bool {
	for part := range strings.SplitSeq(pkg, "/") {
		if part == "internal" || part == "cmd" || part == "examples" {
			return false
		}
	}
	return true
}

// TestStability wants each package to say whether it is stable or experimental.
func TestStability(t *testing.T) {
	for _, f := range sources(t) {
		if f.test || !public(f.pkg) || path.Base(f.path) != "doc.go" {
			continue
		}
		lines := strings.Split(strings.TrimSpace(f.ast.Doc.Text()), "\n")
		if !slices.Contains(lines, "Stability: stable.") && !slices.Contains(lines, "Stability: experimental.") {
			t.Errorf("%s: the overview does not end with Stability: stable. or Stability: experimental.", f.path)
		}
	}
}

// TestPackagesHaveExamples wants an example of each package.
func TestPackagesHaveExamples(t *testing.T) {
	has := map[string]bool{}
	for _, f := range sources(t) {
		if !public(f.pkg) || f.ast.Name.Name == "main" {
			continue
		}
		if _, ok := has[f.pkg]; !ok {
			has[f.pkg] = false
		}
		if !f.test {
			continue
		}
		for _, d := range f.ast.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil && strings.HasPrefix(d.Name.Name, "Example") {
				has[f.pkg] = true
			}
		}
	}
	for pkg, ok := range has {
		if !ok {
			t.Errorf("%s has no example", pkg)
		}
	}
}
