package archtest

import (
	"fmt"
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
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

// TestChangelog wants releases from the newest on, each with what was added, changed and fixed, in
// lists.
func TestChangelog(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(text), "\n## ")
	if len(parts) < 3 || !strings.HasPrefix(parts[1], "Unreleased\n") {
		t.Fatal("CHANGELOG.md does not begin with what is unreleased")
	}
	last := []int{1 << 30, 0, 0}
	for _, release := range parts[2:] {
		version, _, _ := strings.Cut(release, " ")
		number := make([]int, 3)
		if n, err := fmt.Sscanf(version, "v%d.%d.%d", &number[0], &number[1], &number[2]); n != 3 || slices.Compare(number, last) >= 0 {
			t.Errorf("%s stands behind %v (%v)", version, last, err)
		}
		last = number
		sections := strings.Split(release, "\n### ")
		for _, s := range sections[1:] {
			kind, list, _ := strings.Cut(s, "\n\n")
			if !slices.Contains([]string{"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}, kind) || !strings.HasPrefix(list, "- ") {
				t.Errorf("%s: %s is no list of changes of a kind", version, kind)
			}
		}
	}
}

// TestErrorKindsHaveExamples wants the page of error kinds to have each of package tenon, in their order,
// with a program and what it prints, which begins with the kind. The programs are run by
// examples/howto.
func TestErrorKindsHaveExamples(t *testing.T) {
	var kinds, texts []string
	for _, f := range sources(t) {
		if f.path != "errors.go" {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			s, ok := n.(*ast.ValueSpec)
			if ok && len(s.Values) == 1 && strings.HasPrefix(s.Names[0].Name, "Err") {
				text, err := strconv.Unquote(s.Values[0].(*ast.CallExpr).Args[0].(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				kinds, texts = append(kinds, s.Names[0].Name), append(texts, text)
			}
			return true
		})
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "reference", "errors.md"))
	if err != nil {
		t.Fatal(err)
	}
	sections := strings.Split(string(page), "\n## ")[1:]
	if len(kinds) < 7 || len(sections) != len(kinds) {
		t.Fatalf("%d kinds, but %d sections", len(kinds), len(sections))
	}
	for i, s := range sections {
		if !strings.HasPrefix(s, kinds[i]+"\n") || !strings.Contains(s, "```go\n") || !strings.Contains(s, "```text\n"+texts[i]+" | ") {
			t.Errorf("%s has no section with a program that prints %q:\n%s", kinds[i], texts[i], s)
		}
	}
}
