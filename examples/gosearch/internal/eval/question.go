package eval

import (
	"strings"
	"unicode"

	"github.com/tenonml/tenon/examples/gosearch/internal/decl"
	"github.com/tenonml/tenon/examples/gosearch/internal/token"
)

// MinWords is how many words a question needs to take part.
const MinWords = 5

// Question makes a declaration's question: its comment's first sentence
// without the identifiers that are its name. It reports false when that is too short.
func Question(d *decl.Decl) (string, bool) {
	first, _ := d.Synopsis()
	q := withoutIdentifier(first, d.Name)
	return q, len(token.Words(nil, q)) >= MinWords
}

// withoutIdentifier drops every identifier that is name, whole and in the same
// case, and the white space that is left at the ends.
func withoutIdentifier(s, name string) string {
	var b strings.Builder
	inside := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	for s != "" {
		n := strings.IndexFunc(s, inside)
		if n < 0 {
			n = len(s)
		}
		b.WriteString(s[:n])
		s = s[n:]
		n = strings.IndexFunc(s, func(r rune) bool { return !inside(r) })
		if n < 0 {
			n = len(s)
		}
		if s[:n] != name {
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return strings.TrimSpace(b.String())
}
