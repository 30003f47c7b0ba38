package jsonpath

import (
	"strconv"
	"strings"
)

// String returns the text of a path of field names: names with dots between
// them, quoted where they are no identifiers.
func String(path []string) string {
	words := make([]string, len(path))
	for i, name := range path {
		words[i] = name
		if !Identifier(name) {
			words[i] = strconv.Quote(name)
		}
	}
	return strings.Join(words, ".")
}

// Identifier reports whether a name is an ASCII letter and then letters, digits and
// underscores.
func Identifier(name string) bool {
	for i, c := range []byte(name) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return name != ""
}
