package main

import (
	"context"
	"io"
	"path/filepath"
	"slices"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"
	"github.com/creachadair/jrpc2/handler"
	"golang.org/x/tools/go/analysis"
)

// A server answers one editor. Requests are answered one after the other.
type server struct {
	*workspace
	last map[string]*state // by file
}

// A state is a file when it was checked last without an error of the compiler in the way.
type state struct {
	*checked
	text string
}

// serve answers an editor until it leaves.
func serve(in io.Reader, out io.WriteCloser) error {
	s := &server{workspace: newWorkspace(), last: map[string]*state{}}
	srv := jrpc2.NewServer(handler.Map{
		"initialize":                      handler.New(s.initialize),
		"initialized":                     handler.New(func(context.Context, any) error { return nil }),
		"shutdown":                        handler.New(func(context.Context) (any, error) { return nil, nil }),
		"exit":                            handler.New(func(ctx context.Context) error { go jrpc2.ServerFromContext(ctx).Stop(); return nil }),
		"textDocument/didOpen":            handler.New(s.opened),
		"textDocument/didChange":          handler.New(s.changed),
		"textDocument/didSave":            handler.New(s.saved),
		"textDocument/didClose":           handler.New(s.closed),
		"textDocument/inlayHint":          handler.New(s.inlayHints),
		"textDocument/hover":              handler.New(s.hover),
		"textDocument/completion":         handler.New(s.completion),
		"textDocument/codeAction":         handler.New(s.codeActions),
		"workspace/didChangeWatchedFiles": handler.New(func(context.Context, any) error { return nil }),
		"$/cancelRequest":                 handler.New(func(context.Context, any) error { return nil }),
		"$/setTrace":                      handler.New(func(context.Context, any) error { return nil }),
	}, &jrpc2.ServerOptions{AllowPush: true, Concurrency: 1})
	return srv.Start(channel.LSP(in, out)).Wait()
}

func (s *server) initialize(context.Context, any) (any, error) {
	return map[string]any{
		"capabilities": map[string]any{
			"textDocumentSync":   map[string]any{"openClose": true, "change": 1, "save": true},
			"inlayHintProvider":  true,
			"hoverProvider":      true,
			"completionProvider": map[string]any{"triggerCharacters": []string{"[", ","}},
			"codeActionProvider": map[string]any{"codeActionKinds": []string{"quickfix"}},
		},
		"serverInfo": map[string]any{"name": "dimls"},
	}, nil
}

func (s *server) opened(ctx context.Context, p documentParams) error {
	file := pathOf(p.TextDocument.URI)
	s.overlay[file] = p.TextDocument.Text
	return s.publish(ctx, file)
}

func (s *server) changed(ctx context.Context, p changeParams) error {
	file := pathOf(p.TextDocument.URI)
	if n := len(p.ContentChanges); n > 0 {
		s.overlay[file] = p.ContentChanges[n-1].Text
	}
	return s.publish(ctx, file)
}

// saved loads packages again: what a file imports may have changed, and so may the facts
// about its package, which others read.
func (s *server) saved(ctx context.Context, p documentParams) error {
	clear(s.pkgs)
	clear(s.facts)
	for file := range s.overlay {
		if err := s.publish(ctx, file); err != nil {
			return err
		}
	}
	return nil
}

func (s *server) closed(_ context.Context, p documentParams) error {
	file := pathOf(p.TextDocument.URI)
	delete(s.overlay, file)
	delete(s.last, file)
	return nil
}

// publish checks the package of a file and sends the diagnostics of its open files. Where
// the text does not compile there is nothing new to say.
func (s *server) publish(ctx context.Context, file string) error {
	p, err := s.packageOf(file)
	if err != nil {
		return nil //nolint:nilerr // it may belong to one after the next change
	}
	c, err := s.check(p, nil)
	if err != nil {
		return nil //nolint:nilerr // the compiler's errors are those of gopls
	}
	for _, f := range p.files {
		text, open := s.overlay[f]
		if !open {
			continue
		}
		s.last[f] = &state{c, text}
		if err := jrpc2.ServerFromContext(ctx).Notify(ctx, "textDocument/publishDiagnostics", publishParams{uriOf(f), s.diagnostics(f)}); err != nil {
			return err
		}
	}
	return nil
}

// diagnostics returns those of a file.
func (s *server) diagnostics(file string) []diagnostic {
	out := []diagnostic{}
	st := s.last[file]
	for _, d := range st.checked.diagnostics {
		if filepath.Clean(st.fset.Position(d.Pos).Filename) == file {
			out = append(out, st.diagnostic(d))
		}
	}
	return out
}

func (st *state) diagnostic(d analysis.Diagnostic) diagnostic {
	return diagnostic{Range: span(st.fset, st.text, d.Pos, d.End), Severity: severityWarning, Code: d.Category, Source: "dimcheck", Message: d.Message}
}

func (s *server) inlayHints(_ context.Context, p rangeParams) ([]inlayHint, error) {
	file := pathOf(p.TextDocument.URI)
	st, out := s.last[file], []inlayHint{}
	if st == nil {
		return out, nil
	}
	for _, h := range st.result.Hints {
		if filepath.Clean(st.fset.Position(h.Pos).Filename) != file {
			continue
		}
		at := positionOf(st.text, st.fset.Position(h.End).Offset)
		if at.Line >= p.Range.Start.Line && at.Line <= p.Range.End.Line {
			out = append(out, inlayHint{Position: at, Label: h.Dims, Kind: kindTypeHint, PaddingLeft: true})
		}
	}
	return out, nil
}

func (s *server) hover(_ context.Context, p positionParams) (*hover, error) {
	st := s.last[pathOf(p.TextDocument.URI)]
	if st == nil {
		return nil, nil
	}
	file := st.files[pathOf(p.TextDocument.URI)]
	at := file.FileStart + tokenPos(offsetOf(st.text, p.Position))
	for _, e := range enclosing(file, at) {
		if dims, ok := st.result.Dims(e); ok {
			return &hover{Contents: markup{"markdown", "```go\n" + source(st, e) + " " + dims + "\n```"}, Range: span(st.fset, st.text, e.Pos(), e.End())}, nil
		}
	}
	return nil, nil
}

func (s *server) codeActions(_ context.Context, p rangeParams) ([]codeAction, error) {
	file := pathOf(p.TextDocument.URI)
	st, out := s.last[file], []codeAction{}
	if st == nil {
		return out, nil
	}
	for _, d := range st.checked.diagnostics {
		own := st.diagnostic(d)
		if filepath.Clean(st.fset.Position(d.Pos).Filename) != file || own.Range.End.Line < p.Range.Start.Line || own.Range.Start.Line > p.Range.End.Line {
			continue
		}
		for _, f := range d.SuggestedFixes {
			changes := map[string][]textEdit{}
			for _, e := range f.TextEdits {
				name := filepath.Clean(st.fset.Position(e.Pos).Filename)
				text, err := s.text(name)
				if err != nil {
					return nil, err
				}
				changes[uriOf(name)] = append(changes[uriOf(name)], textEdit{span(st.fset, text, e.Pos, e.End), string(e.NewText)})
			}
			out = append(out, codeAction{Title: f.Message, Kind: "quickfix", Diagnostics: slices.Clone([]diagnostic{own}), Edit: workspaceEdit{changes}})
		}
	}
	return out, nil
}
