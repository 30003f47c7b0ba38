package decl_test

import (
	"slices"
	"testing"

	"github.com/tenonml/tenon/examples/gosearch/internal/decl"
)

// Calls are counted where they are, through variables whose types a call or a declaration tells,
// and what is said beside them is kept.
func TestUses(t *testing.T) {
	dir := writeTree(t, map[string]string{
		"go.mod": "module m\n",
		"shop/shop.go": `// Package shop sells. It is small.
package shop

// Shop is a place.
type Shop struct{ base }

type base struct{}

// Open opens.
func Open() (*Shop, error) { return nil, nil }

// Sell sells.
func (s *Shop) Sell() *Shop { return s }

// Close closes.
func (b *base) Close() error { return nil }

// Unused is not used.
func Unused() {}
`,
		"user/user.go": `package user

import sh "m/shop"

func buyBread() {
	// Enter the building.
	store, err := sh.Open()
	if err != nil {
		panic("cannot enter the place")
	}
	store.Sell().Sell()
	var other *sh.Shop
	other.Close()
	open := sh.Open
	_ = open
}
`,
	})
	r := walk(t, decl.Locator{}, dir)
	for _, want := range []struct {
		path string
		uses int64
		says []string
	}{
		{"m/shop.Open", 2, []string{"Enter the building.", "cannot enter the place", "buyBread", "store"}},
		{"m/shop.Shop.Sell", 2, []string{"buyBread"}},
		{"m/shop.Shop.Close", 1, []string{"buyBread"}},
		{"m/shop.Unused", 0, nil},
	} {
		i := slices.IndexFunc(r.Decls, func(d decl.Decl) bool { return slices.Contains(d.Paths(), want.path) })
		if i < 0 {
			t.Fatalf("no %s", want.path)
		}
		d := r.Decls[i]
		if d.Uses != want.uses || !d.Public() || d.PackageDoc != "Package shop sells." {
			t.Errorf("%s: %d uses, want %d; public %v, package %q", want.path, d.Uses, want.uses, d.Public(), d.PackageDoc)
		}
		for _, text := range want.says {
			if !slices.Contains(d.Callers, text) {
				t.Errorf("%s: callers say %q, not %q", want.path, d.Callers, text)
			}
		}
	}
}

func TestPublic(t *testing.T) {
	for _, c := range []struct {
		d    decl.Decl
		want bool
	}{
		{decl.Decl{Package: "os", PackageName: "os", Name: "Open"}, true},
		{decl.Decl{Package: "os", PackageName: "os", Name: "open"}, false},
		{decl.Decl{Package: "os", PackageName: "os", Name: "Read", Receiver: "*File"}, true},
		{decl.Decl{Package: "os", PackageName: "os", Name: "Read", Receiver: "*file"}, false},
		{decl.Decl{Package: "testing", PackageName: "testing", Name: "Skip", Receiver: "*common", Through: []string{"B", "T"}}, true},
		{decl.Decl{Package: "a/internal/b", PackageName: "b", Name: "F"}, false},
		{decl.Decl{Package: "a/vendor/b", PackageName: "b", Name: "F"}, false},
		{decl.Decl{Package: "a/internals", PackageName: "internals", Name: "F"}, true},
		{decl.Decl{Package: "cmd/go", PackageName: "main", Name: "Main"}, false},
	} {
		if got := c.d.Public(); got != c.want {
			t.Errorf("%v is public: %v, want %v", c.d.Paths(), got, c.want)
		}
	}
}
