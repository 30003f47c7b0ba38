package eval

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/tenonml/tenon/examples/gosearch/internal/decl"
)

//go:embed questions.tsv
var peoplesQuestions string

// An Everyday question is one as people ask it.
type Everyday struct {
	Text string
	Part Part
	// Answers are functions of the standard library, as [decl.Decl.Paths] names them, any of which will do.
	Answers []string
}

// A Part is what questions are for.
type Part string

const (
	Choosing  Part = "choosing"  // how to rank is decided by these
	Reporting Part = "reporting" // nothing is fitted to these
	Unseen    Part = "unseen"    // written when the ranking stood, and never looked at to change it
)

// People returns the questions as people ask them.
func People() []Everyday {
	var out []Everyday
	for line := range strings.Lines(peoplesQuestions) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		out = append(out, Everyday{f[1], Part(f[0]), strings.Fields(f[2])})
	}
	return out
}

// Positions are the places of the question's answers among declarations.
func (q Everyday) Positions(decls []decl.Decl) []int {
	var out []int
	for i := range decls {
		if slices.ContainsFunc(decls[i].Paths(), func(p string) bool { return slices.Contains(q.Answers, p) }) {
			out = append(out, i)
		}
	}
	return out
}
