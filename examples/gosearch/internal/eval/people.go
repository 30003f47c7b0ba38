package eval

import (
	_ "embed"
	"slices"
	"strings"
)

//go:embed questions.tsv
var peoplesQuestions string

// An Everyday question is one that a person asks.
type Everyday struct {
	Text string
	Part Part
	// Answers are functions of the standard library, named as by [decl.Decl.Paths]. Any of them is right.
	Answers []string
}

// A Part says what questions are used for.
type Part string

const (
	Choosing  Part = "choosing"  // the ranking is tuned on these
	Reporting Part = "reporting" // nothing is fitted to these
	Unseen    Part = "unseen"    // written after the ranking was complete, and never used to change it
)

// People returns the questions of people.
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

// Positions are those of the question's answers.
func (q Everyday) Positions(places map[string][]int) []int {
	var out []int
	for _, a := range q.Answers {
		out = append(out, places[a]...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
