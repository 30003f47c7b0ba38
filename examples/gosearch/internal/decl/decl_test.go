package decl_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenonml/tenon/examples/gosearch/internal/decl"
)

func TestSignature(t *testing.T) {
	p := func(s ...string) (out []decl.Param) {
		for i := 0; i < len(s); i += 2 {
			out = append(out, decl.Param{Name: s[i], Type: s[i+1]})
		}
		return out
	}
	for _, c := range []struct {
		d               decl.Decl
		signature, name string
	}{
		{decl.Decl{Package: "m/p", PackageName: "p", Name: "F"}, "func F()", "p.F"},
		{decl.Decl{Package: "q/p/v2", PackageName: "p", Name: "F", Params: p("a", "int", "b", "int", "c", "...string"), Results: p("", "error")},
			"func F(a, b int, c ...string) error", "p.F"},
		{decl.Decl{Package: "q/p/v2", PackageName: "p", Name: "F", Params: p("", "int", "", "int"), Results: p("n", "int", "err", "error")},
			"func F(int, int) (n int, err error)", "p.F"},
		{decl.Decl{Package: "q/p/v2", PackageName: "p", Name: "Get", Receiver: "*List[T]", Results: p("", "T", "", "bool")},
			"func (*List[T]) Get() (T, bool)", "p.List.Get"},
		{decl.Decl{Package: "q/p/v2", PackageName: "p", Name: "Map", TypeParams: p("K", "comparable", "V", "any"), Results: p("m", "map[K]V")},
			"func Map[K comparable, V any]() (m map[K]V)", "p.Map"},
	} {
		if got := c.d.Signature(); got != c.signature {
			t.Errorf("Signature() = %q, want %q", got, c.signature)
		}
		if got := c.d.QualifiedName(); got != c.name {
			t.Errorf("QualifiedName() = %q, want %q", got, c.name)
		}
	}
}

func TestSynopsis(t *testing.T) {
	for _, c := range []struct{ doc, first, rest string }{
		{"", "", ""},
		{"F does it", "F does it", ""},
		{"F does it. Then it stops.\n", "F does it.", "Then it stops."},
		{"F does\n  it.\nThen.\n", "F does it.", "Then."},
		{"F heads a paragraph\n\nwithout a period.", "F heads a paragraph", "without a period."},
		{"F is by J. Doe and reads v1.2 files. Done.", "F is by J. Doe and reads v1.2 files.", "Done."},
		{"F reads JSON. It ends.", "F reads JSON.", "It ends."},
		{"F は読む。次。", "F は読む。", "次。"},
	} {
		d := decl.Decl{Doc: c.doc}
		if first, rest := d.Synopsis(); first != c.first || rest != c.rest {
			t.Errorf("Synopsis of %q = %q, %q; want %q, %q", c.doc, first, rest, c.first, c.rest)
		}
	}
}

func TestJSONLines(t *testing.T) {
	want := walk(t, decl.Locator{}, "testdata/shop").Decls
	path := filepath.Join(t.TempDir(), "d.jsonl")
	var b strings.Builder
	if err := decl.Write(t.Context(), &b, want); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\n"); n != len(want) {
		t.Errorf("%d lines for %d declarations", n, len(want))
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := decl.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
}

func TestWriteStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := decl.Write(ctx, &strings.Builder{}, make([]decl.Decl, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

func TestReadFileErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "\n", "holds no declaration"},
		{"not JSON", "{\"name\":\"F\"}\n\n}\n", "d.jsonl:3: not a declaration"},
		{"cut off", "{\"name\":\"F\"}\n{\"name\":", "d.jsonl:2: not a declaration"},
		{"foreign", "{\"name\":7}\n", "d.jsonl:1: not a declaration"},
	} {
		path := filepath.Join(t.TempDir(), "d.jsonl")
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := decl.ReadFile(path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}
