package token

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Words appends the words of s to dst, in lower case and not stemmed.
//
// A word is a run of letters or a run of digits. A run of letters is cut where
// Go's identifiers are: before a capital that follows a small letter, and
// before the last capital of a run that a small letter follows. So "parseHTTPUrl2"
// is parse, http, url, 2, and "UTF-8" and "utf8" are both utf, 8. A plural
// small s after capitals ("URLs", "IDs") stays with them. What follows an
// apostrophe inside a word ("file's", "don't") is dropped.
func Words(dst []string, s string) []string {
	start := -1              // of the word being read
	prev, before := 0, other // where the previous rune starts, and its class
	elided := false          // after an apostrophe
	flush := func(end int) {
		if start >= 0 {
			dst = append(dst, strings.ToLower(s[start:end]))
		}
		start = -1
	}
	for i, r := range s {
		c := classOf(r)
		switch {
		case elided && c != other:
			continue
		case c == other:
			elided = (r == '\'' || r == '’') && start >= 0
			flush(i)
		case start < 0:
			start = i
		case (c == digit) != (before == digit), c == upper && before == lower:
			flush(i)
			start = i
		case c == lower && before == upper && prev > start && !pluralAt(s, i, r):
			flush(prev) // the last capital begins this word
			start = prev
		}
		before, prev = c, i
	}
	flush(len(s))
	return dst
}

type class uint8

const (
	other class = iota
	lower
	upper
	digit
)

func classOf(r rune) class {
	switch {
	case 'a' <= r && r <= 'z':
		return lower
	case 'A' <= r && r <= 'Z':
		return upper
	case '0' <= r && r <= '9':
		return digit
	case r < utf8.RuneSelf:
		return other
	case unicode.IsUpper(r):
		return upper
	case unicode.IsLetter(r):
		return lower
	case unicode.IsDigit(r):
		return digit
	}
	return other
}

// pluralAt reports whether the rune r at i is a small s that ends a word.
func pluralAt(s string, i int, r rune) bool {
	if r != 's' {
		return false
	}
	next, _ := utf8.DecodeRuneInString(s[i+1:])
	return classOf(next) != lower
}
