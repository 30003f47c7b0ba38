package saved

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// This file parses JSON where encoding/json does not suffice: the members of an object in
// order, including duplicates. The text must be valid JSON; see [json.Valid].

// members calls f with each member of an object.
func members(text []byte, f func(name string, value []byte) error) error {
	return parts(text, '{', func(b []byte) (int, error) {
		n := valueEnd(b)
		name, err := textOf(b[:n])
		if err != nil {
			return 0, err
		}
		at := n + spaces(b[n:]) + 1 // the colon
		at += spaces(b[at:])
		end := at + valueEnd(b[at:])
		return end, f(name, b[at:end])
	})
}

// elements calls f with each element of a list.
func elements(text []byte, f func(value []byte) error) error {
	return parts(text, '[', func(b []byte) (int, error) {
		n := valueEnd(b)
		return n, f(b[:n])
	})
}

// parts calls one for each part between brackets; one returns the length of the part.
func parts(text []byte, open byte, one func(b []byte) (int, error)) error {
	b := text[spaces(text):]
	if len(b) == 0 || b[0] != open {
		what := "an object"
		if open == '[' {
			what = "a list"
		}
		return fmt.Errorf("%s is not %s", short(text), what)
	}
	for {
		b = b[1:] // a bracket or a comma
		if b = b[spaces(b):]; b[0] == '}' || b[0] == ']' {
			return nil
		}
		n, err := one(b)
		if err != nil {
			return err
		}
		if b = b[n:]; len(b) > 0 {
			b = b[spaces(b):]
		}
		if b[0] != ',' {
			return nil
		}
	}
}

func spaces(b []byte) int {
	for i, c := range b {
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return i
		}
	}
	return len(b)
}

// valueEnd returns the end of the value at the start of b.
func valueEnd(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			for i++; b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
			continue
		case '}', ']':
			if depth == 0 {
				return i // after a number
			}
			depth--
		case ',', ':', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(b)
}

// textOf decodes a string.
func textOf(b []byte) (string, error) {
	if len(b) > 1 && b[0] == '"' {
		s := string(b[1 : len(b)-1])
		if strings.IndexByte(s, '\\') < 0 && utf8.ValidString(s) {
			return s, nil
		}
	}
	var s *string
	if err := json.Unmarshal(b, &s); err != nil || s == nil {
		return "", fmt.Errorf("%s is not a string", short(b))
	}
	return *s, nil
}

// short returns the beginning of a text, for errors.
func short(b []byte) string {
	if len(b) > 40 {
		return string(b[:40]) + "…"
	}
	return string(b)
}
