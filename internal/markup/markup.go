package markup

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Writer collects elements. The zero value is empty.
type Writer struct {
	b    strings.Builder
	open []string
}

// Open starts an element. Attributes alternate names and values; a value of any type is printed,
// numbers in their shortest form.
func (w *Writer) Open(tag string, attributes ...any) *Writer {
	w.tag(tag, attributes)
	w.b.WriteByte('>')
	w.open = append(w.open, tag)
	return w
}

// Void writes an element without content, such as img.
func (w *Writer) Void(tag string, attributes ...any) *Writer {
	w.tag(tag, attributes)
	w.b.WriteString("/>")
	return w
}

func (w *Writer) tag(tag string, attributes []any) {
	w.b.WriteString("<" + tag)
	for i := 0; i+1 < len(attributes); i += 2 {
		w.b.WriteString(" " + attributes[i].(string) + `="` + escaped(text(attributes[i+1])) + `"`)
	}
}

func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(float64(int64(v*100+0.5))/100, 'g', -1, 64) // hundredths are precise enough for positions
	}
	return fmt.Sprint(v)
}

// End ends the innermost open element.
func (w *Writer) End() *Writer {
	last := len(w.open) - 1
	w.b.WriteString("</" + w.open[last] + ">")
	w.open = w.open[:last]
	return w
}

// Depth returns the number of open elements.
func (w *Writer) Depth() int { return len(w.open) }

// EndTo ends elements until only depth are open.
func (w *Writer) EndTo(depth int) {
	for len(w.open) > depth {
		w.End()
	}
}

// Text writes escaped text.
func (w *Writer) Text(s string) *Writer {
	w.b.WriteString(escaped(s))
	return w
}

// Line starts a new line, for people who read the source.
func (w *Writer) Line() *Writer {
	w.b.WriteByte('\n')
	return w
}

// Element writes an element that contains text.
func (w *Writer) Element(tag, text string, attributes ...any) *Writer {
	return w.Open(tag, attributes...).Text(text).End()
}

// Add writes the output of another Writer.
func (w *Writer) Add(made string) *Writer {
	w.b.WriteString(made)
	return w
}

// Rows writes the rows of a table, with cells of the given element.
func (w *Writer) Rows(tag string, rows ...[]string) *Writer {
	for _, r := range rows {
		w.Open("tr")
		for _, c := range r {
			w.Element(tag, c)
		}
		w.End().Line()
	}
	return w
}

// String returns the markup written so far.
func (w *Writer) String() string { return w.b.String() }

// escaped escapes text, and makes visible characters that would change the order or position of the
// text around them.
func escaped(s string) string {
	clean := true
	for _, r := range s {
		if r == utf8.RuneError || unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
			clean = false
			break
		}
	}
	if !clean {
		s = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
				return utf8.RuneError
			}
			return r
		}, s)
	}
	return html.EscapeString(s)
}

//go:embed style.css
var style string

//go:embed script.js
var script string

// Style returns the style sheet of pages.
func Style() string { return style }

// Script returns the script of pages.
func Script() string { return script }

// Policy returns the Content Security Policy of pages: it identifies the style and the script by their
// hashes, so that nothing else is loaded.
func Policy() string {
	of := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; base-uri 'none'; form-action 'self'; connect-src 'self'; img-src data:; style-src " + of(style) + "; script-src " + of(script)
}

// Head returns the beginning of a self-contained page, up to its content.
func Head(title string) string {
	var w Writer
	w.Add("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n").
		Open("meta", "http-equiv", "Content-Security-Policy", "content", Policy()).Line()
	w.open = nil
	w.Add("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n").Element("title", title).Line()
	return w.String() + "<style>" + style + "</style>\n</head>\n<body class=\"tenon\">\n<main>\n"
}

// Foot returns the end of the page.
func Foot() string { return "</main>\n<script>" + script + "</script>\n</body>\n</html>\n" }
