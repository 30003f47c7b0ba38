package jsonpath

import (
	"strconv"
	"strings"
)

// String returns the text of a path of field names: names separated by dots,
// quoted if they are not identifiers.
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

// Identifier reports whether a name consists of an ASCII letter followed by letters, digits and
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
