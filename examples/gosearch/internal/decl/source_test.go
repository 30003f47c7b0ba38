package decl_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenonml/tenon/examples/gosearch/internal/decl"
)

const documented = "package p\n\n// F does it.\nfunc F() {}\n"

// cacheTree is a module cache in small.
func cacheTree(t *testing.T) string {
	return writeTree(t, map[string]string{
		"example.com/!big/mod@v1.9.0/go.mod":              "module example.com/Big/mod\n",
		"example.com/!big/mod@v1.9.0/p/p.go":              documented,
		"example.com/!big/mod@v1.10.0/go.mod":             "module example.com/Big/mod\n",
		"example.com/!big/mod@v1.10.0/p/p.go":             documented,
		"example.com/old@v0.1.0/p/p.go":                   documented, // from before go.mod
		"golang.org/toolchain@v0.0.1-go1.26/src/p/p.go":   documented,
		"cache/download/example.com/old/@v/unpacked.go":   documented,
		"cache/download/sumdb/sum.golang.org/x/latest.go": documented,
	})
}

func TestResolve(t *testing.T) {
	cache := cacheTree(t)
	root := writeTree(t, map[string]string{"src/p/p.go": documented})
	loc := decl.Locator{GOROOT: root, ModCache: cache}
	for _, c := range []struct {
		name string
		in   []string
		want []string
	}{
		{"default", nil, []string{filepath.Join(root, "src")}},
		{"std", []string{"std"}, []string{filepath.Join(root, "src")}},
		{"newest version", []string{"example.com/Big/mod"}, []string{filepath.Join(cache, "example.com/!big/mod@v1.10.0")}},
		{"one version", []string{"example.com/Big/mod@v1.9.0"}, []string{filepath.Join(cache, "example.com/!big/mod@v1.9.0")}},
		{"several", []string{cache, "std"}, []string{cache, filepath.Join(root, "src")}},
		{"all below a folder", []string{root + "/..."}, []string{root}},
		{"module cache", []string{"modcache"}, []string{cache}},
		{"relative folder", []string{"testdata/shop"}, []string{filepath.FromSlash(abs(t, "testdata/shop"))}},
	} {
		got, err := loc.Resolve(c.in...)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestResolveErrors(t *testing.T) {
	cache := cacheTree(t)
	for _, c := range []struct {
		name, in, want string
		loc            decl.Locator
	}{
		{"no GOROOT", "std", "no GOROOT", decl.Locator{}},
		{"GOROOT without source", "std", "no source in GOROOT: ", decl.Locator{GOROOT: cache}},
		{"a file", "walk.go", "walk.go is a file", decl.Locator{}},
		{"neither", "./nowhere", "./nowhere is neither a folder nor a module path", decl.Locator{ModCache: cache}},
		{"absent module", "example.com/none", `"go mod download example.com/none"`, decl.Locator{ModCache: cache}},
		{"absent version", "example.com/old@v2.0.0", "neither a folder nor in the module cache", decl.Locator{ModCache: cache}},
		{"no cache", "example.com/old", "no module cache to look in", decl.Locator{}},
	} {
		if _, err := c.loc.Resolve(c.in); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

func TestWalkModuleCache(t *testing.T) {
	cache := cacheTree(t)
	var got []string
	for _, d := range walk(t, decl.Locator{ModCache: cache}, cache).Decls {
		got = append(got, d.Package+" "+d.File)
	}
	want := []string{
		"example.com/Big/mod/p $GOMODCACHE/example.com/!big/mod@v1.10.0/p/p.go",
		"example.com/old/p $GOMODCACHE/example.com/old@v0.1.0/p/p.go",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLocatorPath(t *testing.T) {
	loc := decl.Locator{GOROOT: filepath.FromSlash("/go"), ModCache: filepath.FromSlash("/mod")}
	for in, want := range map[string]string{
		"$GOROOT/src/io/io.go":      filepath.FromSlash("/go/src/io/io.go"),
		"$GOMODCACHE/a@v1.0.0/a.go": filepath.FromSlash("/mod/a@v1.0.0/a.go"),
		"/home/u/a.go":              "/home/u/a.go",
		"$GOROOTS/a.go":             "$GOROOTS/a.go",
	} {
		if got := loc.Path(in); got != want {
			t.Errorf("Path(%q) = %q, want %q", in, got, want)
		}
	}
}
