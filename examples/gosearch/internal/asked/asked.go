package asked

import (
	_ "embed"
	"fmt"
	"os"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/examples/gosearch/internal/decl"
)

//go:embed std.tsv
var std string

// A Question is what a person asks.
type Question struct {
	Text    string
	Answers []string // the best first
}

// Std returns the questions about the standard library.
func Std() []Question {
	return tenon.Must(parse(std))
}

// ReadFile reads questions from a file.
func ReadFile(path string) ([]Question, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	out, err := parse(string(b))
	if err != nil {
		return nil, fmt.Errorf("%s:%w", path, err)
	}
	return out, nil
}

// parse reads questions. Empty lines and those that begin with # are comments.
func parse(text string) ([]Question, error) {
	var out []Question
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		text, answers, _ := strings.Cut(line, "\t")
		q := Question{strings.TrimSpace(text), strings.Fields(answers)}
		if q.Text == "" || len(q.Answers) == 0 {
			return nil, fmt.Errorf("%d: want a question, a tab, and the functions that answer it, as in net/http.Client.Do", n)
		}
		out = append(out, q)
	}
	return out, nil
}

// Attach adds each question to the declarations that answer it, and returns how many questions have such a declaration.
func Attach(decls []decl.Decl, questions []Question) int {
	places := decl.Places(decls)
	found := 0
	for _, q := range questions {
		known := false
		for _, path := range q.Answers {
			for _, i := range places[path] {
				decls[i].Asked = append(decls[i].Asked, q.Text)
				known = true
			}
		}
		if known {
			found++
		}
	}
	return found
}
