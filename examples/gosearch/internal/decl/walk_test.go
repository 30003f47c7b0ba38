package decl_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenonml/tenon/examples/gosearch/internal/decl"
)

// abs is the path of a folder of this package, as an index writes it.
func abs(t *testing.T, dir string) string {
	t.Helper()
	p, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.ToSlash(p)
}

func walk(t *testing.T, loc decl.Locator, names ...string) *decl.Result {
	t.Helper()
	dirs, err := loc.Resolve(names...)
	if err != nil {
		t.Fatal(err)
	}
	r, err := loc.Walk(t.Context(), dirs, decl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// writeTree makes a folder of files from their contents.
func writeTree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestWalkModule(t *testing.T) {
	r := walk(t, decl.Locator{}, "testdata/shop")
	dir := abs(t, "testdata/shop")
	none, noExample := []decl.Param{}, []decl.Example{}
	const shopDoc = "Package shop is read by the tests of package decl."
	nobody := []string{}
	want := []decl.Decl{
		{
			Package: "example.com/shop", PackageName: "shop", PackageDoc: shopDoc, Name: "Open", Kind: "func", Through: nobody, Callers: nobody, Asked: nobody, TypeParams: none,
			Params:  []decl.Param{{Name: "addr", Type: "string"}, {Name: "hours", Type: "...int"}},
			Results: []decl.Param{{Name: "s", Type: "*Shop"}, {Name: "err", Type: "error"}},
			TypeDoc: "Shop sells things.", Doc: "Open opens the shop that lives at addr. It fails at night.\n\nThe caller closes it.\n",
			Examples: []decl.Example{{
				Code:   "// At noon.\ns, _ := shop.Open(\"12 High St.\")\nif s == nil {\n\tfmt.Println(\"closed\")\n}",
				Output: "closed\n",
			}},
			File: dir + "/shop.go", Line: 9,
		},
		{
			Package: "example.com/shop", PackageName: "shop", PackageDoc: shopDoc, Name: "Close", Kind: "method", Through: []string{"Shop"}, Callers: nobody, Asked: nobody, Receiver: "*base", TypeParams: none,
			Params: none, Results: []decl.Param{{Type: "error"}}, Doc: "Close shuts the door.\n", Examples: noExample,
			File: dir + "/shop.go", Line: 17,
		},
		{
			Package: "example.com/shop", PackageName: "shop", PackageDoc: shopDoc, Name: "Sell", Kind: "method", Through: nobody, Callers: nobody, Asked: nobody, Receiver: "*Shop", TypeParams: none,
			Params:  []decl.Param{{Name: "n", Type: "int"}, {Name: "limit", Type: "int"}, {Name: "to", Type: "io.Writer"}},
			Results: none,
			TypeDoc: "Shop sells things.", Doc: "Sell hands over n items\nand takes the money.\n",
			Examples: []decl.Example{{Name: "many", Code: "var s shop.Shop\ns.Sell(100, 7, nil)"}},
			File:     dir + "/shop.go", Line: 21,
		},
		{
			Package: "example.com/shop", PackageName: "shop", PackageDoc: shopDoc, Name: "less", Kind: "func", Through: nobody, Callers: nobody, Asked: nobody, TypeParams: none,
			Params:  []decl.Param{{Name: "a", Type: "float64"}, {Name: "b", Type: "float64"}},
			Results: []decl.Param{{Type: "bool"}}, Doc: "less orders prices.\n", Examples: noExample,
			File: dir + "/shop.go", Line: 29,
		},
		{
			Package: "example.com/shop", PackageName: "shop", PackageDoc: shopDoc, Name: "Map", Kind: "func", Through: nobody, Callers: nobody, Asked: nobody,
			TypeParams: []decl.Param{{Name: "A", Type: "any"}, {Name: "B", Type: "any"}},
			Params:     []decl.Param{{Name: "in", Type: "[]A"}, {Name: "f", Type: "func(A) B"}},
			Results:    []decl.Param{{Type: "[]B"}}, Doc: "Map turns each thing into another.\n", Examples: noExample,
			File: dir + "/shop.go", Line: 35,
		},
		{
			Package: "example.com/shop", PackageName: "shop", PackageDoc: shopDoc, Name: "Get", Kind: "method", Through: nobody, Callers: nobody, Asked: nobody, Receiver: "Box[T]", TypeParams: none, Params: none,
			Results: []decl.Param{{Type: "T"}, {Type: "bool"}}, TypeDoc: "Box holds one thing.", Doc: "Get gives the thing, or false.\n", Examples: noExample,
			File: dir + "/shop.go", Line: 38,
		},
		{
			Package: "example.com/shop", PackageName: "shop", PackageDoc: shopDoc, Name: "now", Kind: "func", Through: nobody, Callers: nobody, Asked: nobody, TypeParams: none, Params: none,
			Results: []decl.Param{{Type: "int64"}}, Doc: "now reads the clock on Linux.\n", Examples: noExample,
			File: dir + "/time_linux.go", Line: 6,
		},
		{
			Package: "example.com/shop/cart", PackageName: "cart", PackageDoc: "Package cart is below shop.", Name: "Add", Kind: "func", Through: nobody, Callers: nobody, Asked: nobody, TypeParams: none,
			Params: []decl.Param{{Name: "item", Type: "string"}}, Results: none, Doc: "Add puts an item in.\n", Examples: noExample,
			File: dir + "/cart/cart.go", Line: 5,
		},
	}
	if diff := cmp.Diff(want, r.Decls); diff != "" {
		t.Errorf("declarations (-want +got):\n%s", diff)
	}
	if r.Packages != 2 || len(r.Skipped) != 0 {
		t.Errorf("%d packages, %d skipped; want 2, 0", r.Packages, len(r.Skipped))
	}
}

func TestWalkSubfolderKeepsImportPath(t *testing.T) {
	r := walk(t, decl.Locator{}, "testdata/shop/cart")
	if len(r.Decls) != 1 || r.Decls[0].Package != "example.com/shop/cart" {
		t.Errorf("got %+v, want one declaration of example.com/shop/cart", r.Decls)
	}
}

func TestWalkSkipsWhatDoesNotParse(t *testing.T) {
	dir := writeTree(t, map[string]string{
		"go.mod":      "module m\n",
		"a/good.go":   "package a\n\n// F does it.\nfunc F() {}\n",
		"a/broken.go": "package a\n\nfunc G( {}\n\nfunc H( {}\n",
		"b/empty.go":  "",
	})
	r := walk(t, decl.Locator{}, dir)
	if len(r.Decls) != 1 || r.Decls[0].Name != "F" {
		t.Errorf("declarations %+v, want F alone", r.Decls)
	}
	want := []string{"/a/broken.go: broken.go:3:", "/b/empty.go: empty.go:1:1: expected 'package', found 'EOF'"}
	if len(r.Skipped) != len(want) {
		t.Fatalf("skipped %v, want %d files", r.Skipped, len(want))
	}
	for i, s := range r.Skipped {
		if got := s.File + ": " + s.Err.Error(); !strings.HasPrefix(got, filepath.ToSlash(dir)+want[i]) {
			t.Errorf("skipped %s, want it to begin with the folder and %s", got, want[i])
		}
	}
}

func TestWalkErrors(t *testing.T) {
	noGo := writeTree(t, map[string]string{"README": "no Go here"})
	undocumented := writeTree(t, map[string]string{"a.go": "package a\n\nfunc F() {}\n"})
	broken := writeTree(t, map[string]string{"a.go": "pack"})
	for _, c := range []struct{ name, dir, want string }{
		{"no Go", noGo, "no Go source in " + noGo},
		{"nothing documented", undocumented, "no documented function in [" + undocumented + "]: none has a doc comment"},
		{"nothing parses", broken, "1 files skipped, the first: " + filepath.ToSlash(broken) + "/a.go: a.go:1:1: expected 'package'"},
	} {
		_, err := decl.Locator{}.Walk(t.Context(), []string{c.dir}, decl.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

func TestWalkStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (decl.Locator{}).Walk(ctx, []string{"testdata/shop"}, decl.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled before: error %v, want context.Canceled", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	opts := decl.Options{Workers: 1, Progress: func(done, total int) { cancel() }}
	if _, err := (decl.Locator{}).Walk(ctx, []string{"testdata/shop"}, opts); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled after the first folder: error %v, want context.Canceled", err)
	}
}

// The standard library of the machine, where it has one: what the figures of
// the example are measured on.
func TestWalkStandardLibrary(t *testing.T) {
	loc := decl.Locate()
	dirs, err := loc.Resolve()
	if err != nil {
		t.Skip("needs the source of the standard library: ", err)
	}
	start := time.Now()
	r, err := loc.Walk(t.Context(), dirs, decl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d declarations, %d packages, %d skipped in %v", len(r.Decls), r.Packages, len(r.Skipped), time.Since(start))
	if n := len(r.Decls); n < 15000 || n > 30000 {
		t.Errorf("%d declarations, want 15,000 to 30,000", n)
	}
	if r.Packages < 400 || len(r.Skipped) > 0 {
		t.Errorf("%d packages, skipped %v; want over 400, none", r.Packages, r.Skipped)
	}
	i := slices.IndexFunc(r.Decls, func(d decl.Decl) bool { return d.QualifiedName() == "bufio.Scanner.Scan" })
	if i < 0 {
		t.Fatal("no bufio.Scanner.Scan")
	}
	d := r.Decls[i]
	if d.Package != "bufio" || d.File != "$GOROOT/src/bufio/scan.go" || d.Signature() != "func (*Scanner) Scan() bool" {
		t.Errorf("got %+v", d)
	}
	if _, err := os.Stat(loc.Path(d.File)); err != nil {
		t.Error(err)
	}
	for i := range r.Decls {
		if d := &r.Decls[i]; d.Package == "" || d.Name == "" || d.Line == 0 || strings.Contains(d.Package, "vendor/") {
			t.Errorf("bad declaration %+v", d)
		}
	}
}

func TestWalkDoesNotDependOnWorkers(t *testing.T) {
	loc := decl.Locator{}
	var results []*decl.Result
	for _, workers := range []int{1, 4} {
		r, err := loc.Walk(t.Context(), []string{abs(t, "testdata/shop"), abs(t, "."), abs(t, "testdata/shop/cart")}, decl.Options{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
	}
	if diff := cmp.Diff(results[0], results[1]); diff != "" {
		t.Errorf("1 worker and 4 workers differ:\n%s", diff)
	}
	if n := results[0].Packages; n != 3 {
		t.Errorf("%d packages, want 3: a folder named twice counts once", n)
	}
}

// Methods of exported interfaces that have a comment are declarations as those of other types.
func TestWalkInterfaces(t *testing.T) {
	root := writeTree(t, map[string]string{"go.mod": "module example.com/m\n", "m.go": `// Package m is.
package m

// A Store keeps.
type Store interface {
	// Get gets by a key.
	Get(key string) (int, error)
	Len() int // how many there are
	Bare()
	Other
}

// Other is another.
type Other interface{ Do() }

type hidden interface {
	// Hide hides.
	Hide()
}
`})
	var got []string
	for _, d := range walk(t, decl.Locator{}, root).Decls {
		got = append(got, d.Paths()[0]+": "+d.Signature()+" "+strings.TrimSpace(d.Doc)+" "+d.TypeDoc)
	}
	want := []string{
		"example.com/m.Store.Get: func (Store) Get(key string) (int, error) Get gets by a key. A Store keeps.",
		"example.com/m.Store.Len: func (Store) Len() int how many there are A Store keeps.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
