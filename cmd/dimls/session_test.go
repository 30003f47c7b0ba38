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
	e.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": e.uri, "languageId": "go", "version": 1, "text": e.text}})
	return e
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
