package archtest

import (
	"slices"
	"strings"
	"testing"
)

func TestImportOrder(t *testing.T) {
	order, err := parse(Order)
	if err != nil {
		t.Fatal(err)
	}
	outside, err := parse(Outside)
	if err != nil {
		t.Fatal(err)
	}
	hidden, err := parse(Hidden)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range sources(t) {
		name, ok := order.entry(f.pkg)
		if !ok {
			t.Errorf("%s: package %s has no place in the order of internal/archtest/order.go", f.path, f.pkg)
			continue
		}
		for _, spec := range f.ast.Imports {
			path := strings.Trim(spec.Path.Value, `"`)
			inside, ours := strings.CutPrefix(path, module)
			switch {
			case ours:
				inside = strings.TrimPrefix(inside, "/")
				if inside == "" {
					inside = "tenon"
				}
				if !f.test && inside != f.pkg && !order.allows(f.pkg, inside) {
					t.Errorf("%s: %s may not import %s: see internal/archtest/order.go", at(spec), f.pkg, inside)
				}
				if !f.test && hidden.hides(inside, f.pkg) {
					t.Errorf("%s: %s may not import %s: see Hidden in internal/archtest/order.go", at(spec), f.pkg, inside)
				}
			case path == "C":
				t.Errorf("%s: cgo", at(spec))
			case strings.Contains(strings.SplitN(path, "/", 2)[0], "."):
				if !program(name) && !mayImport(outside, f, path) {
					t.Errorf("%s: %s may not import %s: see Outside in internal/archtest/order.go", at(spec), f.pkg, path)
				}
			}
		}
	}
}

// program reports whether packages under a name of the order choose their
// libraries themselves.
func program(name string) bool { return name == "cmd/..." || name == "examples/..." }

func mayImport(outside *relation, f *file, path string) bool {
	who := []string{f.pkg}
	if f.test {
		who = append(who, "tests")
	}
	return slices.ContainsFunc(who, func(name string) bool {
		return slices.ContainsFunc(outside.allBelow(name), func(b string) bool { return covers(b, path) })
	})
}

func TestParse(t *testing.T) {
	r, err := parse("NONE < a, b; a < x/... < ALL; # a comment\n b, ALL < d;")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		pkg, imported string
		want          bool
	}{
		{"a", "b", false}, {"x", "a", true}, {"x/y", "a", true}, {"x/y", "x/z", true}, {"x/y", "b", false},
		{"d", "a", true}, {"d", "x/y", true}, {"d", "b", true}, {"b", "d", false}, {"e", "a", false}, {"xy", "a", false},
	} {
		if got := r.allows(c.pkg, c.imported); got != c.want {
			t.Errorf("%s imports %s: %v", c.pkg, c.imported, got)
		}
	}
	for _, c := range []struct {
		imported, pkg string
		want          bool
	}{{"a", "y", true}, {"a", "x", false}, {"a", "x/z", false}, {"y", "z", false}, {"a", "a", false}} {
		if got := r.hides(c.imported, c.pkg); got != c.want {
			t.Errorf("%s is hidden from %s: %v", c.imported, c.pkg, got)
		}
	}
	for _, bad := range []string{"a, b;", "a < b; b < c < a;"} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}
