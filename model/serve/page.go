package serve

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/markup"
)

// The status page: the functions, what they take and return, a form to try a call, and the
// times of calls.

//go:embed page.html
var pageSource string

// pageHTML is the page with the style shared by all pages of this module, followed by its own.
var pageHTML = strings.Replace(pageSource, "<style>", "<style>"+markup.Style(), 1)

var pagePolicy = policyOf(pageHTML)

// policyOf returns the header Content-Security-Policy of a page in one file. It allows only the style
// and the script in the page's elements style and script, and requests to its own server.
func policyOf(page string) string {
	return "default-src 'none'; connect-src 'self'; style-src '" + digestOf(page, "style") + "'; script-src '" + digestOf(page, "script") +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// digestOf returns the digest of the contents of an element of a page.
func digestOf(page, element string) string {
	_, text, _ := strings.Cut(page, "<"+element+">")
	text, _, _ = strings.Cut(text, "</"+element+">")
	d := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(d[:])
}

func (s *Server) page(w http.ResponseWriter, _ *http.Request) error {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-cache")
	w.Write([]byte(pageHTML))
	return nil
}

type (
	statusArg struct {
		Name string `json:"name"`
		Spec string `json:"spec,omitempty"`
	}
	statusClass struct {
		UpTo  string `json:"upTo,omitempty"`
		Count int64  `json:"count"`
	}
	statusModel struct {
		Name     string        `json:"name"`
		Version  string        `json:"version"`
		Doc      string        `json:"doc,omitempty"`
		Batched  bool          `json:"batched,omitempty"`
		Stream   bool          `json:"stream,omitempty"`
		Args     []statusArg   `json:"args"`
		Results  []statusArg   `json:"results"`
		Example  *string       `json:"example,omitempty"` // in natural JSON
		Calls    int64         `json:"calls"`
		Failures int64         `json:"failures"`
		Rows     int64         `json:"rows"`
		Runs     int64         `json:"runs"`
		Latency  []statusClass `json:"latency"`
	}
)

// overview answers with the data of the status page.
func (s *Server) overview(w http.ResponseWriter, _ *http.Request) error {
	models := []statusModel{}
	for _, f := range s.list() {
		c := f.counts
		m := statusModel{Name: f.Name, Version: f.version, Doc: f.Doc, Batched: f.Batched, Stream: f.Stream != nil,
			Args: statusArgs(f.Args), Results: statusArgs(f.Results),
			Calls: c.success.Load(), Failures: c.failures(), Rows: c.rows.Load(), Runs: c.runs.Load()}
		if text, ok := f.example(); ok {
			m.Example = &text
		}
		for i := range c.latency {
			class := statusClass{Count: c.latency[i].Load()}
			if i < len(latencies) {
				class.UpTo = latencies[i].String()
			}
			m.Latency = append(m.Latency, class)
		}
		models = append(models, m)
	}
	b, err := json.Marshal(map[string]any{"name": s.opts.Name, "ready": s.isReady(), "models": models})
	if err != nil {
		return err
	}
	return answer(w, b)
}

func statusArgs(list []Arg) []statusArg {
	out := []statusArg{}
	for _, a := range list {
		x := statusArg{Name: a.Name}
		if a.Spec != nil {
			x.Spec = tenon.String(a.Spec)
		}
		out = append(out, x)
	}
	return out
}

// example returns arguments in natural JSON. It returns false if JSON does not determine their
// type.
func (f *served) example() (string, bool) {
	b := []byte{'{'}
	for i, l := range f.in {
		if l == nil {
			return "", false
		}
		if i > 0 {
			b = append(b, ", "...)
		}
		b = l.root.example(append(appendText(b, l.name), ": "...))
	}
	return string(append(b, '}')), true
}

// example appends example data for a node.
func (n *node) example(b []byte) []byte {
	switch n.kind {
	case axisNode:
		const most = 16 // entries of an example
		size := 2
		if n.size >= 0 {
			size = min(n.size, most)
		}
		b = append(b, '[')
		for i := range size {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = n.child.example(b)
		}
		return append(b, ']')
	case optionalNode:
		return n.child.example(b)
	case recordNode:
		switch n.form {
		case variantForm:
			b = appendText(append(b, '{'), n.names[1])
			return append(n.fields[1].example(append(b, ": "...)), '}')
		case mapForm:
			return append(n.fields[0].within().fields[1].example(append(b, `{"key": `...)), '}')
		}
		b = append(b, '{')
		for i, f := range n.fields {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = f.example(append(appendText(b, n.names[i]), ": "...))
		}
		return append(b, '}')
	}
	switch dt := n.column.dt; {
	case dt == dtype.Bool:
		return append(b, "true"...)
	case dt == dtype.String:
		return append(b, `"text"`...)
	case dt.IsFloat():
		return append(b, "1.5"...)
	}
	return append(b, '1')
}
