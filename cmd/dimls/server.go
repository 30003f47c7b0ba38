package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"
	"github.com/creachadair/jrpc2/handler"
	"golang.org/x/tools/go/analysis"
)

// A server serves one editor. A package is checked when one of its files has changed: at once,
// except that changes during a check are collected for the next one. Requests wait for the
// check.
type server struct {
	*workspace
	mu    sync.Mutex
	last  map[string]*state // by file
	dirty map[string]bool   // files that have changed since their package was checked
	wake  chan struct{}
	stop  chan struct{} // closed when checking ends
	push  func(method string, params any) error
	down  bool // shutdown was requested
}

// A state is a file at the last check that the compiler's errors did not prevent.
type state struct {
	*checked
	text string
}

// errExit means that the editor left without the shutdown request that the protocol requires.
var errExit = errors.New("exit without shutdown")

// serve serves an editor until it leaves.
func serve(in io.Reader, out io.WriteCloser) error {
	s := &server{workspace: newWorkspace(), last: map[string]*state{}, dirty: map[string]bool{}, wake: make(chan struct{}, 1), stop: make(chan struct{})}
	left := make(chan struct{})
	leave := sync.OnceFunc(func() { close(left) })
	srv := jrpc2.NewServer(handler.Map{
		"initialize":  handler.New(s.initialize),
		"initialized": nothing,
		"shutdown": func(context.Context, *jrpc2.Request) (any, error) {
			s.down = true
			return nil, nil
		},
		"exit": func(context.Context, *jrpc2.Request) (any, error) {
			leave()
			return nil, nil
		},
		"textDocument/didOpen":            handler.New(s.opened),
		"textDocument/didChange":          handler.New(s.changed),
		"textDocument/didSave":            handler.New(s.saved),
		"textDocument/didClose":           handler.New(s.closed),
		"textDocument/inlayHint":          handler.New(s.inlayHints),
		"textDocument/hover":              handler.New(s.hover),
		"textDocument/completion":         handler.New(s.completion),
		"textDocument/codeAction":         handler.New(s.codeActions),
		"workspace/didChangeWatchedFiles": handler.New(func(context.Context, any) error { s.reload(); return nil }),
		"$/cancelRequest":                 nothing,
		"$/setTrace":                      nothing,
	}, &jrpc2.ServerOptions{AllowPush: true, Concurrency: 1})
	s.push = func(method string, params any) error { return srv.Notify(context.Background(), method, params) }
	srv.Start(channel.LSP(in, out))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-s.wake:
				s.mu.Lock()
				s.checkChanged()
				s.mu.Unlock()
			case <-s.stop:
				return
			}
		}
	}()
	ended := make(chan error, 1)
	go func() { ended <- srv.Wait() }()
	var err error
	select {
	case err = <-ended:
	case <-left: // whether or not the editor closes the pipe that the server reads from
		go srv.Stop()
		if !s.down {
			err = errExit
		}
	}
	close(s.stop)
	<-done
	return err
}

func nothing(context.Context, *jrpc2.Request) (any, error) { return nil, nil }

func (s *server) initialize(context.Context, any) (any, error) {
	return map[string]any{
		"capabilities": map[string]any{
			"textDocumentSync":   map[string]any{"openClose": true, "change": 2, "save": true},
			"inlayHintProvider":  true,
			"hoverProvider":      true,
			"completionProvider": map[string]any{"triggerCharacters": []string{"[", ","}},
			"codeActionProvider": map[string]any{"codeActionKinds": []string{"quickfix"}},
		},
		"serverInfo": map[string]any{"name": "dimls"},
	}, nil
}

// touch records that the package of a file must be checked again.
func (s *server) touch(file string) {
	s.dirty[file] = true
	select {
	case s.wake <- struct{}{}:
	default: // it is about to wake up
	}
}

func (s *server) opened(_ context.Context, p documentParams) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if file := pathOf(p.TextDocument.URI); file != "" {
		s.overlay[file] = p.TextDocument.Text
		s.touch(file)
	}
	return nil
}

func (s *server) changed(_ context.Context, p changeParams) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	file := pathOf(p.TextDocument.URI)
	text, open := s.overlay[file]
	if !open {
		return fmt.Errorf("%s is not open", p.TextDocument.URI)
	}
	for _, c := range p.ContentChanges {
		text = c.apply(text)
	}
	s.overlay[file] = text
	s.touch(file)
	return nil
}

func (s *server) saved(context.Context, documentParams) error {
	s.reload()
	return nil
}

// reload loads packages again: the imports of a file may have changed, and so may the facts
// about its package that others read.
func (s *server) reload() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
	for file := range s.overlay {
		s.touch(file)
	}
}

func (s *server) closed(_ context.Context, p documentParams) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	file := pathOf(p.TextDocument.URI)
	if _, open := s.overlay[file]; !open {
		return nil
	}
	delete(s.overlay, file)
	delete(s.last, file)
	delete(s.dirty, file)
	if k := s.pkgs[file]; k != nil { // the text on disk may be a different one
		for _, f := range k.files {
			if _, open := s.overlay[f]; open {
				s.touch(f)
			}
		}
	}
	return s.push("textDocument/publishDiagnostics", publishParams{uriOf(file), []diagnostic{}})
}

// checkChanged checks the packages of the files that have changed, and sends the diagnostics of
// all of their open files. If the text does not compile, there is nothing new to report.
func (s *server) checkChanged() {
	done := map[*pkg]bool{}
	for _, file := range slices.Sorted(maps.Keys(s.dirty)) {
		delete(s.dirty, file)
		p, err := s.packageOf(file)
		if err != nil || done[p] {
			continue // it may belong to one after the next change
		}
		done[p] = true
		c, err := s.check(p, nil)
		if err != nil {
			continue // gopls reports the compiler's errors
		}
		for _, f := range p.files {
			if text, open := s.overlay[f]; open {
				s.last[f] = &state{c, text}
				if s.push("textDocument/publishDiagnostics", publishParams{uriOf(f), s.diagnostics(f)}) != nil {
					return // the editor has left
				}
			}
		}
	}
}

// stateOf returns the last state of a file.
func (s *server) stateOf(file string) *state {
	s.checkChanged()
	return s.last[file]
}

// diagnostics returns the diagnostics of a file.
func (s *server) diagnostics(file string) []diagnostic {
	out := []diagnostic{}
	st := s.last[file]
	for _, d := range st.checked.diagnostics {
		if filepath.Clean(st.place(d.Pos).Filename) == file {
			out = append(out, st.diagnostic(d))
		}
	}
	return out
}

func (st *state) diagnostic(d analysis.Diagnostic) diagnostic {
	out := diagnostic{Range: span(st.fset, st.text, d.Pos, d.End), Severity: severityWarning, Code: d.Category, Source: "dimcheck", Message: d.Message}
	for _, r := range d.Related {
		name := filepath.Clean(st.place(r.Pos).Filename)
		out.Related = append(out.Related, related{location{uriOf(name), span(st.fset, st.texts[name], r.Pos, r.End)}, r.Message})
	}
	return out
}

func (s *server) inlayHints(_ context.Context, p rangeParams) ([]inlayHint, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	file := pathOf(p.TextDocument.URI)
	st, out := s.stateOf(file), []inlayHint{}
	if st == nil {
		return out, nil
	}
	text := s.overlay[file]
	now := moved(st.text, text)
	for _, h := range st.result.Hints {
		end := st.place(h.End)
		offset, there := now(end.Offset)
		if filepath.Clean(end.Filename) != file || !there {
			continue
		}
		at := positionOf(text, offset)
		if at.Line >= p.Range.Start.Line && at.Line <= p.Range.End.Line {
			out = append(out, inlayHint{Position: at, Label: h.Dims, Kind: kindTypeHint, PaddingLeft: true})
		}
	}
	return out, nil
}

func (s *server) hover(_ context.Context, p positionParams) (*hover, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := pathOf(p.TextDocument.URI)
	st := s.stateOf(path)
	if st == nil {
		return nil, nil
	}
	text, file := s.overlay[path], st.files[path]
	then, there := moved(text, st.text)(offsetOf(text, p.Position))
	if file == nil || !there {
		return nil, nil
	}
	now := moved(st.text, text)
	for _, e := range enclosing(file, file.FileStart+tokenPos(then)) {
		dims, ok := st.result.Dims(e)
		from, there := now(st.place(e.Pos()).Offset)
		to, thereToo := now(st.place(e.End()).Offset)
		if ok && there && thereToo {
			return &hover{Contents: markup{"markdown", "```go\n" + source(st, e) + " " + dims + "\n```"}, Range: textRange{positionOf(text, from), positionOf(text, to)}}, nil
		}
	}
	return nil, nil
}

func (s *server) codeActions(_ context.Context, p rangeParams) ([]codeAction, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	file := pathOf(p.TextDocument.URI)
	st, out := s.stateOf(file), []codeAction{}
	if st == nil || st.text != s.overlay[file] {
		return out, nil
	}
	for _, d := range st.checked.diagnostics {
		own := st.diagnostic(d)
		if filepath.Clean(st.place(d.Pos).Filename) != file || own.Range.End.Line < p.Range.Start.Line || own.Range.Start.Line > p.Range.End.Line {
			continue
		}
		for _, f := range d.SuggestedFixes {
			if changes, ok := s.edits(st, f); ok {
				out = append(out, codeAction{Title: f.Message, Kind: "quickfix", Diagnostics: []diagnostic{own}, Edit: workspaceEdit{changes}})
			}
		}
	}
	return out, nil
}

// edits returns the changes of a fix by file, or false if a file has changed since it was
// checked.
func (s *server) edits(st *state, f analysis.SuggestedFix) (map[string][]textEdit, bool) {
	changes := map[string][]textEdit{}
	for _, e := range f.TextEdits {
		name := filepath.Clean(st.place(e.Pos).Filename)
		text, err := s.text(name)
		if err != nil || text != st.texts[name] {
			return nil, false
		}
		changes[uriOf(name)] = append(changes[uriOf(name)], textEdit{span(st.fset, text, e.Pos, e.End), string(e.NewText)})
	}
	return changes, true
}
