package main

import (
	"go/token"
	"net/url"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// The parts of the Language Server Protocol 3.17 that the server implements.

type position struct {
	Line      int `json:"line"`
	Character int `json:"character"` // in UTF-16 code units
}

type textRange struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type document struct {
	URI  string `json:"uri"`
	Text string `json:"text,omitempty"`
}

type positionParams struct {
	TextDocument document `json:"textDocument"`
	Position     position `json:"position"`
}

type rangeParams struct {
	TextDocument document  `json:"textDocument"`
	Range        textRange `json:"range"`
}

type changeParams struct {
	TextDocument   document `json:"textDocument"`
	ContentChanges []change `json:"contentChanges"`
}

// A change replaces a part of a text, or all of it if Range is nil.
type change struct {
	Range *textRange `json:"range,omitempty"`
	Text  string     `json:"text"`
}

// apply returns the text after the change.
func (c change) apply(text string) string {
	if c.Range == nil {
		return c.Text
	}
	from := offsetOf(text, c.Range.Start)
	to := max(from, offsetOf(text, c.Range.End))
	return text[:from] + c.Text + text[to:]
}

type documentParams struct {
	TextDocument document `json:"textDocument"`
}

type diagnostic struct {
	Range    textRange `json:"range"`
	Severity int       `json:"severity"`
	Code     string    `json:"code,omitempty"`
	Source   string    `json:"source"`
	Message  string    `json:"message"`
	Related  []related `json:"relatedInformation,omitempty"`
}

type location struct {
	URI   string    `json:"uri"`
	Range textRange `json:"range"`
}

type related struct {
	Location location `json:"location"`
	Message  string   `json:"message"`
}

type publishParams struct {
	URI         string       `json:"uri"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type inlayHint struct {
	Position    position `json:"position"`
	Label       string   `json:"label"`
	Kind        int      `json:"kind"`
	PaddingLeft bool     `json:"paddingLeft"`
}

type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

type hover struct {
	Contents markup    `json:"contents"`
	Range    textRange `json:"range"`
}

type completionItem struct {
	Label    string    `json:"label"`
	Kind     int       `json:"kind"`
	Detail   string    `json:"detail,omitempty"`
	TextEdit *textEdit `json:"textEdit,omitempty"`
}

type textEdit struct {
	Range   textRange `json:"range"`
	NewText string    `json:"newText"`
}

type codeAction struct {
	Title       string        `json:"title"`
	Kind        string        `json:"kind"`
	Diagnostics []diagnostic  `json:"diagnostics,omitempty"`
	Edit        workspaceEdit `json:"edit"`
}

type workspaceEdit struct {
	Changes map[string][]textEdit `json:"changes"`
}

const (
	severityWarning = 2
	kindTypeHint    = 1
	kindStruct      = 22
)

// pathOf returns the file of a URI, or "" if it is not a Go file.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || !strings.HasSuffix(u.Path, ".go") {
		return ""
	}
	p := u.Path
	if len(p) > 2 && p[0] == '/' && p[2] == ':' { // a Windows drive
		p = p[1:]
	}
	return filepath.Clean(filepath.FromSlash(p))
}

// uriOf returns the URI of a file.
func uriOf(path string) string {
	p := filepath.ToSlash(path)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	return (&url.URL{Scheme: "file", Path: p}).String()
}

// offsetOf returns the byte offset of a position in a text.
func offsetOf(text string, p position) int {
	at := 0
	for range p.Line {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			return len(text)
		}
		at += i + 1
	}
	for units := 0; units < p.Character && at < len(text) && text[at] != '\n'; {
		r, size := utf8.DecodeRuneInString(text[at:])
		units += utf16Len(r)
		at += size
	}
	return at
}

func utf16Len(r rune) int {
	if r >= 0x10000 {
		return 2
	}
	return 1
}

// positionOf returns the position of a byte offset in a text.
func positionOf(text string, offset int) position {
	offset = min(offset, len(text))
	start := strings.LastIndexByte(text[:offset], '\n') + 1
	p := position{Line: strings.Count(text[:offset], "\n")}
	for _, r := range text[start:offset] {
		p.Character += utf16Len(r)
	}
	return p
}

// moved returns a function that maps byte offsets in an old text to a new one: offsets in the
// common prefix or suffix are kept, and those between are lost.
func moved(old, text string) func(offset int) (int, bool) {
	n := min(len(old), len(text))
	head, tail := 0, 0
	for head < n && old[head] == text[head] {
		head++
	}
	for tail < n-head && old[len(old)-1-tail] == text[len(text)-1-tail] {
		tail++
	}
	return func(offset int) (int, bool) {
		switch {
		case offset <= head:
			return offset, true
		case offset >= len(old)-tail:
			return offset + len(text) - len(old), true
		}
		return 0, false
	}
}

// span returns the range between two positions of the syntax.
func span(fset *token.FileSet, text string, pos, end token.Pos) textRange {
	if !end.IsValid() {
		end = pos
	}
	return textRange{positionOf(text, fset.PositionFor(pos, false).Offset), positionOf(text, fset.PositionFor(end, false).Offset)}
}
