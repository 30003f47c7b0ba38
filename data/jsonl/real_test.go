package jsonl_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

var inf = math.Inf(1)

// lossless reads text, writes it again, and compares both with encoding/json.
func lossless(t interface{ Fatalf(string, ...any) }, text []byte, o jsonl.Options) *structured.Tensor {
	o.Missing, o.Overflow = structured.MissingMasked, jsonl.OverflowFloat
	e, err := jsonl.Read(jsonl.Bytes(text), o)
	if err != nil {
		t.Fatalf("%v", err)
	}
	var b bytes.Buffer
	if err := jsonl.Write(&b, e, jsonl.WriteOptions{OmitMissing: true}); err != nil {
		t.Fatalf("%v", err)
	}
	if d := cmp.Diff(plain(t, text), plain(t, b.Bytes())); d != "" {
		t.Fatalf("%s", d)
	}
	return e
}

func plain(t interface{ Fatalf(string, ...any) }, text []byte) []any {
	var out []any
	for d := json.NewDecoder(bytes.NewReader(text)); d.More(); {
		var x any
		if err := d.Decode(&x); err != nil {
			t.Fatalf("%v", err)
		}
		if l, ok := x.([]any); ok {
			for _, y := range l {
				out = append(out, withoutNull(y))
			}
			continue
		}
		out = append(out, withoutNull(x))
	}
	return out
}

// Output of the Go toolchain.
func TestToolchain(t *testing.T) {
	list, err := os.ReadFile("testdata/golist.json")
	if err != nil {
		t.Fatal(err)
	}
	e := lossless(t, list, jsonl.Options{Format: jsonl.Auto})
	files, err := e.Field("GoFiles")
	if err != nil || tensor.Item[int64](e.NRows()) != 4 || !strings.Contains(tenon.String(files.Spec()), "string[4, ~]") {
		t.Errorf("got %v, %v", files, err)
	}
	test, err := os.ReadFile("testdata/gotest.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	e = lossless(t, test, jsonl.Options{})
	trace, err := os.ReadFile("testdata/compiler.json") // what gc writes with -json
	if err != nil {
		t.Fatal(err)
	}
	lossless(t, trace, jsonl.Options{})
	if action := must(e.Field("Action")); action.Shape().Dim(0) != bytes.Count(test, []byte("\n")) {
		t.Errorf("got %v", action)
	}
}

type param struct {
	Name string `json:"name,omitempty"`
	Type string `json:"type"`
}

type decl struct {
	Package string  `json:"package"`
	Name    string  `json:"name"`
	Recv    *param  `json:"recv,omitempty"`
	Params  []param `json:"params"`
	Results []param `json:"results"`
	Doc     string  `json:"doc,omitempty"`
	Line    int     `json:"line"`
}

// The functions that a few packages of the standard library declare.
func TestDeclarations(t *testing.T) {
	src := filepath.Join(build.Default.GOROOT, "src")
	var lines bytes.Buffer
	enc := json.NewEncoder(&lines)
	count := 0
	for _, pkg := range []string{"strings", "sort", "net/url", "encoding/json", "go/ast"} {
		names, err := fs.Glob(os.DirFS(src), pkg+"/*.go")
		if err != nil || len(names) == 0 {
			t.Skipf("the source of package %s is not on this machine", pkg)
		}
		for _, name := range names {
			set := token.NewFileSet()
			f, err := parser.ParseFile(set, filepath.Join(src, name), nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok {
					count++
					if err := enc.Encode(declOf(pkg, set, fn)); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	e := lossless(t, lines.Bytes(), jsonl.Options{})
	if n := tensor.Item[int64](e.NRows()); n != int64(count) || count < 500 {
		t.Errorf("%d rows of %d", n, count)
	}
	want := "package: string[?], name: string[?]"
	row, err := jsonl.Infer(jsonl.Bytes(lines.Bytes()), 0, jsonl.Options{Missing: structured.MissingMasked})
	if err != nil || !strings.Contains(tenon.String(row), want) {
		t.Errorf("got %v, %v", row, err)
	}
	lossless(t, lines.Bytes(), jsonl.Options{Schema: row})
}

func declOf(pkg string, set *token.FileSet, fn *ast.FuncDecl) decl {
	d := decl{Package: pkg, Name: fn.Name.Name, Doc: fn.Doc.Text(), Line: set.Position(fn.Pos()).Line, Params: params(fn.Type.Params), Results: params(fn.Type.Results)}
	if fn.Recv != nil {
		d.Recv = &params(fn.Recv)[0]
	}
	return d
}

func params(l *ast.FieldList) []param {
	out := []param{}
	if l == nil {
		return out
	}
	for _, f := range l.List {
		typ := strings.TrimPrefix(typeText(f.Type), " ")
		if len(f.Names) == 0 {
			out = append(out, param{Type: typ})
		}
		for _, n := range f.Names {
			out = append(out, param{n.Name, typ})
		}
	}
	return out
}

func typeText(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.StarExpr:
		return "*" + typeText(x.X)
	case *ast.SelectorExpr:
		return typeText(x.X) + "." + x.Sel.Name
	case *ast.ArrayType:
		return "[]" + typeText(x.Elt)
	case *ast.Ellipsis:
		return "..." + typeText(x.Elt)
	}
	return "other"
}

// jsonType is a type of values that a generator draws from.
func jsonType(depth int) *rapid.Generator[*rapid.Generator[any]] {
	return rapid.Custom(func(t *rapid.T) *rapid.Generator[any] {
		kind := rapid.IntRange(0, 7).Draw(t, "kind")
		if depth == 0 {
			kind %= 5
		}
		var g *rapid.Generator[any]
		switch kind {
		case 0:
			g = rapid.Int64().AsAny()
		case 1:
			g = rapid.Float64Range(-1e300, 1e300).AsAny()
		case 2:
			g = rapid.String().AsAny()
		case 3:
			g = rapid.Bool().AsAny()
		case 4:
			g = rapid.StringMatching(`[ -~]{0,20}`).AsAny()
		case 5:
			elem := jsonType(depth-1).Draw(t, "elem")
			g = rapid.SliceOfN(elem, 0, 4).AsAny()
		default:
			g = record(t, depth)
		}
		if rapid.IntRange(0, 3).Draw(t, "optional") == 0 {
			return rapid.OneOf(g, rapid.Just[any](nil))
		}
		return g
	})
}

func record(t *rapid.T, depth int) *rapid.Generator[any] {
	names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-zé. "]{1,20}`), 1, 5, rapid.ID[string]).Draw(t, "names")
	fields := make([]*rapid.Generator[any], len(names))
	for i := range fields {
		fields[i] = jsonType(depth-1).Draw(t, "type")
	}
	return rapid.Custom(func(t *rapid.T) any {
		m := map[string]any{}
		for i, g := range fields {
			if rapid.IntRange(0, 9).Draw(t, "there") > 0 {
				m[names[i]] = g.Draw(t, names[i])
			}
		}
		return m
	})
}

// Nested records that a generator writes are read as encoding/json reads them.
func TestAgreesWithEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := record(t, 3)
		var text bytes.Buffer
		enc := json.NewEncoder(&text)
		for range rapid.IntRange(0, 6).Draw(t, "rows") {
			if err := enc.Encode(g.Draw(t, "record")); err != nil {
				t.Fatalf("%v", err)
			}
		}
		e := lossless(t, text.Bytes(), jsonl.Options{Unions: true})
		nested, err := e.ToNested()
		if err != nil {
			t.Fatalf("%v", err)
		}
		rows := []any{}
		for _, x := range nested.([]any) {
			rows = append(rows, withoutNull(x))
		}
		b, err := json.Marshal(rows)
		if err != nil {
			t.Fatalf("%v", err)
		}
		if d := cmp.Diff(plain(t, text.Bytes()), plain(t, b)); d != "" {
			t.Fatalf("%s", d)
		}
	})
}

// FuzzRead holds reading against encoding/json, line by line.
func FuzzRead(f *testing.F) {
	for _, text := range []string{events, "", "{}", `{"a":[null,{"b":[1.5]}],"c":{"d":null}}`, "{\"a\":1}\n{\"a\":\"x\"}\n{\"a\":[1]}", "\ufeff{\"a\":1}", `{"":1}`, `{"a":NaN}`, "\x1f\x8b", "(\xb5/\xfd"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1024 {
			return
		}
		o := jsonl.Options{Missing: structured.MissingMasked, Unions: true, Duplicates: jsonl.DuplicateLast, Overflow: jsonl.OverflowFloat, Unicode: jsonl.UnicodeReplace, Workers: 1}
		e, err := jsonl.Read(jsonl.Bytes(text), o)
		if err != nil {
			return
		}
		var b, again bytes.Buffer
		if err := jsonl.Write(&b, e, jsonl.WriteOptions{}); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		back, err := jsonl.Read(jsonl.Bytes(b.Bytes()), o)
		if err != nil {
			t.Fatalf("%q as %q: %v", text, b.Bytes(), err)
		}
		if err := jsonl.Write(&again, back, jsonl.WriteOptions{}); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
			t.Fatalf("%q as %q, and then %q: %v", text, b.Bytes(), again.Bytes(), err)
		}
	})
}
