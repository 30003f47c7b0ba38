package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"
	"github.com/google/go-cmp/cmp"
)

// An editor is a client that follows a script.
type editor struct {
	t    *testing.T
	cli  *jrpc2.Client
	uri  string
	text string
	got  chan publishParams
}

// open starts a server and opens the file of the session.
func open(t *testing.T) *editor {
	t.Helper()
	file, err := filepath.Abs("testdata/session/session.go")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- serve(in, out) }()
	e := &editor{t: t, uri: uriOf(file), got: make(chan publishParams, 16)}
	e.cli = jrpc2.NewClient(channel.LSP(fromServer, toServer), &jrpc2.ClientOptions{OnNotify: func(r *jrpc2.Request) {
		var p publishParams
		if r.Method() == "textDocument/publishDiagnostics" && r.UnmarshalParams(&p) == nil {
			e.got <- p
		}
	}})
	t.Cleanup(func() {
		e.cli.Close()
		<-done
	})
	var caps struct {
		Capabilities map[string]any `json:"capabilities"`
	}
	e.call("initialize", map[string]any{"rootUri": nil}, &caps)
	for _, want := range []string{"inlayHintProvider", "hoverProvider", "completionProvider", "codeActionProvider"} {
		if caps.Capabilities[want] == nil {
			t.Errorf("the server does not offer %s", want)
		}
	}
	e.notify("initialized", map[string]any{})
	e.text = string(text)
	e.open(e.uri, e.text)
	return e
}

func (e *editor) open(uri, text string) {
	e.t.Helper()
	e.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": uri, "languageId": "go", "version": 1, "text": text}})
}

// edit sends changes of parts of the text, each of what the ones before have left.
func (e *editor) edit(changes ...change) {
	e.t.Helper()
	e.notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": e.uri, "version": 2}, "contentChanges": changes})
	for _, c := range changes {
		e.text = c.apply(e.text)
	}
}

// part returns the range of a part of the text.
func (e *editor) part(part string) *textRange {
	e.t.Helper()
	i := strings.Index(e.text, part)
	if i < 0 {
		e.t.Fatalf("the text has no %q", part)
	}
	return &textRange{positionOf(e.text, i), positionOf(e.text, i+len(part))}
}

func (e *editor) call(method string, params, result any) {
	e.t.Helper()
	if err := e.cli.CallResult(context.Background(), method, params, result); err != nil {
		e.t.Fatalf("%s: %v", method, err)
	}
}

func (e *editor) notify(method string, params any) {
	e.t.Helper()
	if err := e.cli.Notify(context.Background(), method, params); err != nil {
		e.t.Fatalf("%s: %v", method, err)
	}
}

// change replaces a part of the text without saving it.
func (e *editor) change(old, new string) {
	e.t.Helper()
	if !strings.Contains(e.text, old) {
		e.t.Fatalf("the text has no %q", old)
	}
	e.text = strings.Replace(e.text, old, new, 1)
	e.notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": e.uri, "version": 2}, "contentChanges": []any{map[string]any{"text": e.text}}})
}

// diagnostics waits for the next ones.
func (e *editor) diagnostics() []diagnostic {
	e.t.Helper()
	select {
	case p := <-e.got:
		return p.Diagnostics
	case <-time.After(60 * time.Second):
		e.t.Fatal("no diagnostics came")
	}
	return nil
}

// at returns the position behind a part of the text.
func (e *editor) at(part string) map[string]any {
	e.t.Helper()
	i := strings.Index(e.text, part)
	if i < 0 {
		e.t.Fatalf("the text has no %q", part)
	}
	return map[string]any{"textDocument": document{URI: e.uri}, "position": positionOf(e.text, i+len(part))}
}

func (e *editor) everywhere() rangeParams {
	return rangeParams{document{URI: e.uri}, textRange{position{}, position{Line: 1000}}}
}

func (e *editor) hints() []string {
	var hints []inlayHint
	e.call("textDocument/inlayHint", e.everywhere(), &hints)
	var out []string
	for _, h := range hints {
		out = append(out, h.Label)
	}
	return out
}

func (e *editor) complete(part string) []string {
	var items []completionItem
	e.call("textDocument/completion", e.at(part), &items)
	var out []string
	for _, i := range items {
		out = append(out, i.TextEdit.NewText)
	}
	return out
}

func TestSession(t *testing.T) {
	e := open(t)
	if d := e.diagnostics(); len(d) != 0 {
		t.Errorf("got %v for a program that is right", d)
	}
	if d := cmp.Diff([]string{"{Seq:8 Rep:2}", "{Seq:8 Kq:3}", "{KeySeq:8 Kq:3}"}, e.hints()); d != "" {
		t.Error(d)
	}

	// An error that is typed, and not saved.
	e.change("named.Rename[Seq, KeySeq](queries)", "named.Mul(queries, 2)")
	found := e.diagnostics()
	want := "named.Dot over Kq: both operands also have Seq\n  left   {Seq:8 Kq:3}\n  right  {Seq:8 Kq:3}\n  rename one, contract it too, take it as a batch with named.Contract, or lift the function over it with named.Lift[Seq]"
	if len(found) != 1 || found[0].Message != want || found[0].Code != "shared" || found[0].Source != "dimcheck" || found[0].Range.Start.Line != 19 {
		t.Fatalf("got %+v", found)
	}

	// A quick fix.
	var actions []codeAction
	e.call("textDocument/codeAction", e.everywhere(), &actions)
	var titles []string
	for _, a := range actions {
		titles = append(titles, a.Title)
	}
	if d := cmp.Diff([]string{"rename Seq of the right operand to KeySeq", "take Seq as a batch with named.Contract"}, titles); d != "" {
		t.Fatal(d)
	}
	edits := actions[0].Edit.Changes[e.uri]
	if len(edits) != 2 || edits[0].NewText != "named.Rename[Seq, KeySeq](" || edits[1].NewText != ")" {
		t.Errorf("got %v", edits)
	}
	e.change("(queries, keys)", "(queries, named.Rename[Seq, KeySeq](keys))")
	if d := e.diagnostics(); len(d) != 0 {
		t.Errorf("got %v after the fix", d)
	}

	// What is under the cursor.
	var h *hover
	e.call("textDocument/hover", e.at("weights.Project("), &h)
	if h == nil || !strings.Contains(h.Contents.Value, "x {Seq:8 Rep:2}") {
		t.Errorf("got %v", h)
	}
	h = nil
	e.call("textDocument/hover", e.at("type ("), &h)
	if h != nil {
		t.Errorf("got %v for a type", h)
	}

	// Names that both operands share, then those that one has.
	e.change("named.Dot[weights.Kq](queries", "named.Dot[](queries")
	if d := cmp.Diff([]string{"weights.Kq"}, e.complete("named.Dot[")); d != "" {
		t.Error(d)
	}
	e.change("named.Dot[](queries, named.Rename[Seq, KeySeq](keys))", "named.Softmax[Se](queries)")
	if d := cmp.Diff([]string{"Seq", "weights.Kq"}, e.complete("named.Softmax[Se")); d != "" {
		t.Error(d)
	}
	e.change("named.Softmax[Se](queries)", "named.By().Dot(x, weights.Query)")
	if d := cmp.Diff([]string{"weights.Rep{}"}, e.complete("named.By(")); d != "" {
		t.Error(d)
	}
	// Nothing is offered of the indices where the table is not known.
	e.change("named.By().Dot(x, weights.Query)", "named.Take[](named.Einsum(\"\"), x)")
	if got := e.complete("named.Take["); len(got) != 0 {
		t.Errorf("got %v", got)
	}
	e.notify("textDocument/didClose", map[string]any{"textDocument": document{URI: e.uri}})
	e.call("shutdown", nil, new(json.RawMessage))
}

// A function that does not compile is left out, and the others are checked meanwhile.
func TestWhileTyping(t *testing.T) {
	e := open(t)
	e.diagnostics()
	e.change("func scores()", "func broken() { x := undefined(; }\n\nfunc scores()")
	e.change("undefined(;", "undefined();")
	e.change("named.Dot[weights.Kq]", "named.Dot[weights.Rep]")
	for {
		if d := e.diagnostics(); len(d) > 0 {
			if !strings.HasPrefix(d[0].Message, "named.Dot over Rep: left operand has no Rep") {
				t.Errorf("got %v", d)
			}
			return
		}
	}
}

// Edits of parts, several in one message, in units of UTF-16, give the text that the editor
// has: what is found is where it is there.
func TestPartialEdits(t *testing.T) {
	e := open(t)
	e.diagnostics()
	first := change{e.part("\tx := named.Zeros"), "\t/* 😀ç */ x := named.Zeros"}
	second := change{&textRange{position{first.Range.Start.Line, 10}, position{first.Range.Start.Line, 10}}, " y := 3; _ = y;"}
	e.edit(first, second)
	if d := e.diagnostics(); len(d) != 0 {
		t.Errorf("got %v", d)
	}
	if !strings.Contains(e.text, "\t/* 😀ç */ y := 3; _ = y; x := named.Zeros") {
		t.Fatalf("got %s", e.text)
	}
	var hints []inlayHint
	e.call("textDocument/inlayHint", e.everywhere(), &hints)
	if want := e.part("x := named.Zeros").Start; len(hints) != 3 || hints[0].Position != (position{want.Line, want.Character + 1}) {
		t.Errorf("got %+v", hints)
	}
	e.edit(change{e.part("named.Rename[Seq, KeySeq](queries)"), "queries"})
	found := e.diagnostics()
	if len(found) != 1 || found[0].Range != *e.part("named.Dot[weights.Kq](queries, keys)") {
		t.Errorf("got %+v", found)
	}
}

// While the text does not compile, hints stand where their variables are now, and no edit is
// offered that was made for another text.
func TestStale(t *testing.T) {
	e := open(t)
	e.diagnostics()
	e.edit(change{e.part("named.Rename[Seq, KeySeq](queries)"), "queries"})
	if d := e.diagnostics(); len(d) != 1 {
		t.Fatalf("got %v", d)
	}
	e.edit(change{e.part("func scores()"), "var (\n\tbroken =\n\nfunc scores()"})
	var hints []inlayHint
	e.call("textDocument/inlayHint", e.everywhere(), &hints)
	for i, name := range []string{"x :=", "queries :=", "keys :="} {
		at := e.part(name).Start
		if at.Character += len(name) - len(" :="); i >= len(hints) || hints[i].Position != at {
			t.Errorf("hint %d: got %+v, want one at %v", i, hints, at)
		}
	}
	var h *hover
	e.call("textDocument/hover", e.at("weights.Project("), &h)
	if h == nil || h.Range != (textRange{e.part("x)").Start, e.part(")\n\tkeys").Start}) {
		t.Errorf("got %+v", h)
	}
	var actions []codeAction
	e.call("textDocument/codeAction", e.everywhere(), &actions)
	if len(actions) != 0 {
		t.Errorf("got %v", actions)
	}
}

// A package that a file comes to import is loaded without saving.
func TestNewImport(t *testing.T) {
	e := open(t)
	e.diagnostics()
	e.edit(change{e.part("import (\n"), "import (\n\t\"math\"\n\n\t\"github.com/tenonml/tenon/ops\"\n"},
		change{nil, ""}) // an editor may send anything
	e.edit(change{nil, "package session\n"})
	e.edit(change{nil, `package session

import (
	"math"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
)

type Seq struct{ named.Dim[Seq] }
type Rep struct{ named.Dim[Rep] }

var _ = named.Sum[Rep](named.Map(ops.Exp, named.Zeros(dtype.Float32, Seq{}.Of(int(math.Sqrt(4))))))
`})
	for {
		if d := e.diagnostics(); len(d) > 0 {
			if !strings.HasPrefix(d[0].Message, "named.Sum over Rep: the tensor has no Rep") {
				t.Errorf("got %v", d)
			}
			return
		}
	}
}

// A field that declares its dimensions shows them where it is declared and where it is read.
func TestDeclaredFieldsShowTheirDimensions(t *testing.T) {
	e := open(t)
	e.diagnostics()
	e.edit(change{e.part("func scores()"), `type layer struct {
	Scale *named.Tensor ` + "`dims:\"Seq, weights.Rep\"`" + `
	Other *named.Tensor
}

func (l layer) sum() *named.Tensor { return named.Sum[Seq](l.Scale) }

func scores()`})
	if d := e.diagnostics(); len(d) != 0 {
		t.Fatalf("got %v", d)
	}
	for at, want := range map[string]string{"\tSca": "Scale {Seq Rep}", "(l.Sca": "l.Scale {Seq Rep}", "\tOth": ""} {
		var h *hover
		e.call("textDocument/hover", e.at(at), &h)
		if got := ""; h != nil {
			if got = h.Contents.Value; want == "" || !strings.Contains(got, want+"\n") {
				t.Errorf("at %q: got %q", at, got)
			}
		} else if want != "" {
			t.Errorf("at %q: nothing", at)
		}
	}
}

// What other programs send, and what editors should not, is answered or left alone.
func TestOddClients(t *testing.T) {
	e := open(t)
	e.diagnostics()
	err := e.cli.CallResult(context.Background(), "textDocument/definition", e.at("weights.Project("), new(any))
	if code := jrpc2.ErrorCode(err); code != jrpc2.MethodNotFound {
		t.Errorf("got %v", err)
	}
	for _, method := range []string{"$/progress", "workspace/didChangeConfiguration", "initialized", "$/setTrace", "telemetry/none"} {
		e.notify(method, nil)
	}
	e.open("untitled:Untitled-1", "package x")
	e.open(uriOf(filepath.Join(t.TempDir(), "alone.go")), "package alone\n\nimport \"github.com/tenonml/tenon/named\"\n\nvar _ = named.Scalar(1)\n")
	e.open(uriOf("/nowhere/at all/x.go"), "package")
	e.open("%%:", "")
	e.notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": "file:///not/open.go"}, "contentChanges": []any{map[string]any{"text": "x"}}})
	e.notify("textDocument/didClose", map[string]any{"textDocument": document{URI: "file:///not/open.go"}})
	e.notify("textDocument/didChange", []int{1})
	for _, p := range []position{{-3, -7}, {1 << 40, 1 << 40}, {3, 1 << 40}, {0, 0}} {
		at := positionParams{document{URI: e.uri}, p}
		e.call("textDocument/hover", at, new(*hover))
		e.call("textDocument/completion", at, new([]completionItem))
		at.TextDocument.URI = "file:///nowhere/x.go"
		e.call("textDocument/hover", at, new(*hover))
		e.call("textDocument/completion", at, new([]completionItem))
	}
	e.call("textDocument/inlayHint", rangeParams{document{URI: "untitled:Untitled-1"}, textRange{}}, new([]inlayHint))
	e.edit(change{&textRange{position{9, 4}, position{2, 1}}, "x"}, change{&textRange{position{-1, 0}, position{1 << 40, 0}}, e.text})
	if d := e.diagnostics(); len(d) != 0 {
		t.Errorf("got %v", d)
	}
	if h := e.hints(); len(h) != 3 {
		t.Errorf("got %v", h)
	}
	// What is closed has nothing wrong with it any more.
	e.edit(change{e.part("named.Rename[Seq, KeySeq](queries)"), "queries"})
	if d := e.diagnostics(); len(d) != 1 {
		t.Errorf("got %v", d)
	}
	e.notify("textDocument/didClose", map[string]any{"textDocument": document{URI: e.uri}})
	if d := e.diagnostics(); len(d) != 0 {
		t.Errorf("got %v", d)
	}
	e.open(e.uri, e.text)
	if d := e.diagnostics(); len(d) != 1 {
		t.Errorf("got %v", d)
	}
	e.notify("textDocument/didSave", map[string]any{"textDocument": document{URI: e.uri}})
	e.notify("workspace/didChangeWatchedFiles", map[string]any{"changes": []any{}})
	if d := e.diagnostics(); len(d) != 1 {
		t.Errorf("got %v", d)
	}
}

// An editor that leaves says so first. The server does not wait for it to close the pipe.
func TestExit(t *testing.T) {
	for _, polite := range []bool{true, false} {
		in, toServer := io.Pipe()
		fromServer, out := io.Pipe()
		done := make(chan error, 1)
		go func() { done <- serve(struct{ io.Reader }{in}, out) }() // nobody closes it
		cli := jrpc2.NewClient(channel.LSP(fromServer, toServer), nil)
		if err := cli.CallResult(context.Background(), "initialize", map[string]any{}, new(any)); err != nil {
			t.Fatal(err)
		}
		if polite {
			if err := cli.CallResult(context.Background(), "shutdown", nil, new(any)); err != nil {
				t.Fatal(err)
			}
		}
		if err := cli.Notify(context.Background(), "exit", nil); err != nil {
			t.Fatal(err)
		}
		if err := <-done; (err == nil) != polite {
			t.Errorf("polite: %v; got %v", polite, err)
		}
		cli.Close()
	}
}

// Positions count units of UTF-16.
func TestPositions(t *testing.T) {
	text := "a😀b\nçd"
	for _, tt := range []struct {
		p      position
		offset int
	}{{position{0, 0}, 0}, {position{0, 1}, 1}, {position{0, 3}, 5}, {position{0, 4}, 6}, {position{1, 0}, 7}, {position{1, 1}, 9}, {position{1, 2}, 10}} {
		if got := offsetOf(text, tt.p); got != tt.offset {
			t.Errorf("offset of %v = %d, want %d", tt.p, got, tt.offset)
		}
		if got := positionOf(text, tt.offset); got != tt.p {
			t.Errorf("position of %d = %v, want %v", tt.offset, got, tt.p)
		}
	}
	if got := offsetOf(text, position{9, 9}); got != len(text) {
		t.Errorf("offset behind the end = %d", got)
	}
	if got := pathOf(uriOf("/a b/ç.go")); got != "/a b/ç.go" {
		t.Errorf("got %q", got)
	}
}
