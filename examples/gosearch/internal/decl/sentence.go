package decl

import (
	"strings"
	"unicode"
)

// Synopsis splits the comment into its first sentence, on one line with single
// spaces, and the rest as it stands. The sentence ends where go/doc ends it:
// at a period followed by white space and not preceded by a single capital
// letter, at an ideographic full stop, or at the first blank line.
func (d *Decl) Synopsis() (first, rest string) {
	doc := strings.TrimSpace(d.Doc)
	end := sentenceEnd(doc)
	return strings.Join(strings.Fields(doc[:end]), " "), strings.TrimSpace(doc[end:])
}

func sentenceEnd(s string) int {
	var before, last rune // the two runes before the current one
	initial := false      // last is a period after a lone capital, as in "J. Doe"
	for i, r := range s {
		switch {
		case last == '。' || last == '．':
			return i
		case last == '.' && unicode.IsSpace(r) && !initial:
			return i
		case last == '\n' && r == '\n':
			return i
		}
		initial = r == '.' && unicode.IsUpper(last) && !unicode.IsUpper(before)
		before, last = last, r
	}
	return len(s)
}
