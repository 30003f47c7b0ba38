package rank

import (
	"slices"
	"strings"

	"github.com/tenonml/tenon/examples/gosearch/internal/decl"
	"github.com/tenonml/tenon/examples/gosearch/internal/token"
)

// What a function gives, as far as the form of a question tells whether that is wanted: "is …" wants a truth value, and "how
// many …" a number.
const (
	givesTruth int32 = 1 << iota
	givesNumber
)

var (
	asksTruth  = []string{"is", "are", "was", "were", "does", "did", "has", "have", "can", "check", "whether"}
	asksNumber = []string{"many", "much", "big", "long", "large", "often", "far", "old"} // after "how"
	numbers    = []string{"int", "int64", "uint", "uint64", "float64", "time.Duration", "Duration"}
)

// gives says of what a function returns first, or of the only result beside it that is no error.
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

// wants tells what a question is about by its first words.
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
