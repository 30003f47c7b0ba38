package main

import (
	"go/token"
	"net/url"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// The parts of the Language Server Protocol 3.17 that the server speaks.

type position struct {
	Line      int `json:"line"`
	Character int `json:"character"` // in units of UTF-16
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
	ContentChanges []struct {
		Text string `json:"text"`
	} `json:"contentChanges"`
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

// pathOf returns the file of a URI.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	p := u.Path
	if len(p) > 2 && p[0] == '/' && p[2] == ':' { // a drive of Windows
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

// offsetOf returns the byte at a position of a text.
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

// positionOf returns the position of a byte of a text.
func positionOf(text string, offset int) position {
	offset = min(offset, len(text))
	start := strings.LastIndexByte(text[:offset], '\n') + 1
	p := position{Line: strings.Count(text[:offset], "\n")}
	for _, r := range text[start:offset] {
		p.Character += utf16Len(r)
	}
	return p
}

// span returns the range between two positions of the syntax.
func span(fset *token.FileSet, text string, pos, end token.Pos) textRange {
	if !end.IsValid() {
		end = pos
	}
	return textRange{positionOf(text, fset.Position(pos).Offset), positionOf(text, fset.Position(end).Offset)}
}
