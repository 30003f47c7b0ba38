package rank

import (
	"slices"
	"strings"

	"github.com/tenonml/tenon/examples/gosearch/internal/decl"
	"github.com/tenonml/tenon/examples/gosearch/internal/token"
)

// What a function returns, and what the form of a question asks for: "is …" asks for a boolean, and "how many …" for a
// number.
const (
	givesTruth int32 = 1 << iota
	givesNumber
)

var (
	asksTruth  = []string{"is", "are", "was", "were", "does", "did", "has", "have", "can", "check", "whether"}
	asksNumber = []string{"many", "much", "big", "long", "large", "often", "far", "old"} // after "how"
	numbers    = []string{"int", "int64", "uint", "uint64", "float64", "time.Duration", "Duration"}
)

// gives describes the first result of a function, or its only result other than an error.
func gives(d *decl.Decl) (g int32) {
	for _, r := range d.Results {
		switch {
		case r.Type == "bool":
			g |= givesTruth
		case slices.Contains(numbers, r.Type):
			g |= givesNumber
		}
	}
	if len(d.Results) > 0 && strings.HasPrefix(d.Name, "Is") {
		g |= givesTruth
	}
	return g
}

// wants returns what a question asks for, judging by its first words.
func wants(question []token.Asked) int32 {
	words := make([]string, 0, len(question))
	for _, a := range question {
		if !a.Compound {
			words = append(words, a.Word)
		}
	}
	switch {
	case len(words) < 2:
	case slices.Contains(asksTruth, words[0]):
		return givesTruth
	case words[0] == "how" && slices.Contains(asksNumber, words[1]), words[0] == "number" && words[1] == "of":
		return givesNumber
	}
	return 0
}
