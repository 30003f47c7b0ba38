package token

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenonml/tenon/examples/gosearch/internal/decl"
)

func TestDeclaration(t *testing.T) {
	var tk Tokenizer
	got := tk.Declaration(&decl.Decl{
		Package: "net/http", Name: "ReadAll", Receiver: "*Conn[T]",
		Params:  []decl.Param{{Name: "max", Type: "int64"}, {Type: "...io.Reader"}},
		Results: []decl.Param{{Name: "data", Type: "[]byte"}, {Name: "err", Type: "error"}},
		Doc:     "ReadAll is the question. Lines follow.",
		File:    "$GOROOT/src/net/http/conn_pool.go",
	})
	want := []Token{
		{"read", Name}, {"all", Name},
		{"net", Package}, {"http", Package},
		{"conn", Receiver}, {"t", Receiver},
		{"max", ParamName}, {"int", ParamType}, {"64", ParamType}, {"io", ParamType}, {"reader", ParamType},
		{"data", ResultName}, {"err", ResultName}, {"byte", ResultType}, {"error", ResultType},
		{"line", Body}, {"follow", Body},
		{"conn", File}, {"pool", File},
		{"package:net/http", InPackage}, {"file:net/http/conn_pool.go", InFile}, {"type:net/http.Conn", OnType},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	// A function has no type, and a comment of one sentence no body.
	for _, tok := range tk.Declaration(&decl.Decl{Package: "p", Name: "F", Doc: "F is all there is.", File: "p.go"}) {
		if tok.Field == OnType || tok.Field == Receiver || tok.Field == Body {
			t.Errorf("a plain function has %v", tok)
		}
	}
}

func TestQuestion(t *testing.T) {
	var tk Tokenizer
	text := "zero one two three four five six seven eight nine ten a b c d e sixteen"
	want := [...]Field{Lead, Lead, Early, Early, Early, Middle, Middle, Middle, Middle, Late, Late, Late, Late, Late, Late, Late, Tail}
	got := tk.Question(text)
	if len(got) != len(want) {
		t.Fatalf("%d tokens, want %d", len(got), len(want))
	}
	for i, tok := range got {
		if tok.Field != want[i] {
			t.Errorf("word %d %q is %v, want %v", i, tok.Text, tok.Field, want[i])
		}
	}
	if got := tk.Question(" ?! "); len(got) != 0 {
		t.Errorf("a question without words has tokens %v", got)
	}
}

func TestFieldNames(t *testing.T) {
	seen := map[string]bool{}
	for f := range NumFields {
		if s := f.String(); s == "" || s == "unknown" || seen[s] {
			t.Errorf("field %d is named %q", f, s)
		} else {
			seen[s] = true
		}
	}
	if NumFields.String() != "unknown" || Name.IsPlace() || !OnType.IsPlace() || NumFields.IsPlace() {
		t.Error("a field's kind is wrong")
	}
}
