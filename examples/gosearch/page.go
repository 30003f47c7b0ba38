package main

import (
	"fmt"
	"strings"

	"github.com/tenonml/tenon/internal/markup"
	"github.com/tenonml/tenon/show/view"
)

// pageOf is the page: the question and its answers.
func pageOf(s *searcher, q string) string {
	var w markup.Writer
	w.Element("p", "Find Go functions by what they do.", "class", "facts")
	w.Open("form", "method", "get", "role", "search")
	w.Void("input", "type", "search", "name", "q", "value", q, "autofocus", "", "autocomplete", "off", "placeholder", "read a file line by line", "aria-label", "what the function does")
	w.Element("button", "Search").End().Line()
	if q != "" {
		found(&w, s, q)
	}
	return view.Page("gosearch", w.String())
}

// found writes the answers to a question.
func found(w *markup.Writer, s *searcher, q string) {
	const answers = 10
	list, unknown, err := s.search(q, answers, false)
	if err != nil {
		w.Element("p", err.Error(), "class", "bad", "role", "status")
		return
	}
	if len(unknown) > 0 {
		w.Element("p", "unknown: "+strings.Join(unknown, ", "), "class", "bad", "role", "status")
	}
	w.Open("ol", "class", "answers")
	for _, a := range list {
		w.Open("li").Element("div", fmt.Sprintf("%.2f", a.Score), "class", "score").Element("div", a.Package, "class", "package")
		w.Element("code", a.Signature).Element("div", a.Synopsis).Element("div", fmt.Sprintf("%s:%d", a.File, a.Line), "class", "facts").End().Line()
	}
	w.End()
}
