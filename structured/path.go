package structured

import (
	"strconv"
	"strings"
)

// PathString returns the text of a path of field names: names with dots between
// them, quoted where they are no identifiers.
func PathString(path []string) string {
	words := make([]string, len(path))
	for i, name := range path {
		words[i] = name
		if !identifier(name) {
			words[i] = strconv.Quote(name)
		}
	}
	return strings.Join(words, ".")
}

// identifier reports whether a name is an ASCII letter and then letters, digits and
// underscores.
func identifier(name string) bool {
	for i, c := range []byte(name) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return name != ""
}
