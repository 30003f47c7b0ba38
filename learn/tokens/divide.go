package tokens

import (
	"encoding/json"
	"regexp"
	"strings"
	"time"
	"unicode"

	"github.com/dlclark/regexp2/v2"
)

// patience limits the time that a pattern may spend on a text.
const patience = 10 * time.Second

// A division splits each word further.
type division = func(words []string) ([]string, error)

// readDivision returns how a text is split before the model sees it, or nil if it is not.
func readDivision(part json.RawMessage) (division, error) {
	kind, err := named(part)
	if err != nil {
		return nil, err
	}
	switch kind {
	case "":
		return nil, nil
	case "Sequence":
		s, err := readAs[struct{ Pretokenizers []json.RawMessage }](part)
		if err != nil {
			return nil, err
		}
		var all []division
		for _, part := range s.Pretokenizers {
			f, err := readDivision(part)
			if err != nil {
				return nil, err
			}
			if f != nil {
				all = append(all, f)
			}
		}
		return func(words []string) (_ []string, err error) {
			for _, f := range all {
				if words, err = f(words); err != nil {
					return nil, err
				}
			}
			return words, nil
		}, nil
	case "BertPreTokenizer":
		return each(func(word string) []string {
			var out []string
			for _, w := range strings.FieldsFunc(word, unicode.IsSpace) {
				out = append(out, isolated(w, punctuation)...)
			}
			return out
		}), nil
	case "Whitespace":
		return split(`\w+|[^\w\s]+`, "Removed", true)
	case "WhitespaceSplit":
		return each(func(word string) []string { return strings.FieldsFunc(word, unicode.IsSpace) }), nil
	case "Digits":
		s, err := readAs[struct {
			Each bool `json:"individual_digits"`
		}](part)
		if err != nil {
			return nil, err
		}
		if s.Each {
			return split(`\p{N}`, "Isolated", false)
		}
		return split(`\p{N}+`, "Isolated", false)
	case "Split":
		s, err := readAs[struct {
			Pattern  struct{ String, Regex *string }
			Behavior string
			Invert   bool
		}](part)
		if err != nil {
			return nil, err
		}
		switch {
		case s.Pattern.Regex != nil:
			return split(*s.Pattern.Regex, s.Behavior, s.Invert)
		case s.Pattern.String != nil:
			return split(regexp.QuoteMeta(*s.Pattern.String), s.Behavior, s.Invert)
		}
		return nil, invalid("there is no pattern to split by")
	case "ByteLevel":
		return byteLevel(part)
	case "Metaspace":
		m, err := readMetaspace(part)
		if err != nil {
			return nil, err
		}
		return m.divide, nil
	}
	return nil, unsupported("the pre-tokenizer is %q", kind)
}

func each(f func(word string) []string) division {
	return func(words []string) (out []string, _ error) {
		for _, w := range words {
			out = append(out, f(w)...)
		}
		return out, nil
	}
}

// punctuation reports what BERT treats as punctuation: Unicode's, and all printable ASCII that is neither
// letter nor digit.
func punctuation(r rune) bool {
	return r > ' ' && r < 127 && !(r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z') || unicode.IsPunct(r)
}

// isolated splits a word before and after each character that satisfies is.
func isolated(word string, is func(rune) bool) (out []string) {
	from := 0
	for i, r := range word {
		if is(r) {
			end := i + len(string(r))
			out, from = append(out, word[from:i], word[i:end]), end
		}
	}
	return append(out, word[from:])
}

// compile compiles a pattern of a file.
func compile(pattern string) (*regexp2.Regexp, error) {
	re, err := regexp2.Compile(pattern)
	if err != nil {
		return nil, invalid("the pattern %q: %v", pattern, err)
	}
	re.MatchTimeout = patience
	return re, nil
}

// split splits words by a pattern. Matches, or, inverted, the text between matches, become words of their own
// or are removed.
func split(pattern, behavior string, invert bool) (division, error) {
	if behavior != "Isolated" && behavior != "Removed" {
		return nil, unsupported("texts are split with the behavior %q", behavior)
	}
	re, err := compile(pattern)
	if err != nil {
		return nil, err
	}
	keep := func(matches bool) bool { return behavior == "Isolated" || matches == invert }
	return func(words []string) (out []string, _ error) {
		for _, w := range words {
			found, err := re.FindAllStringIndex(w, -1)
			if err != nil {
				return nil, err
			}
			at := 0
			add := func(end int, matches bool) {
				if end > at && keep(matches) {
					out = append(out, w[at:end])
				}
				at = end
			}
			for _, m := range found {
				add(m[0], false)
				add(m[1], true)
			}
			add(len(w), false)
		}
		return out, nil
	}, nil
}

// gpt2 is the pattern by which GPT-2 splits texts.
const gpt2 = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

// byteLevel spells each byte of a word as a printable character.
func byteLevel(part json.RawMessage) (division, error) {
	s, err := readAs[struct {
		Prefix  bool  `json:"add_prefix_space"`
		Pattern *bool `json:"use_regex"`
	}](part)
	if err != nil {
		return nil, err
	}
	var by division
	if s.Pattern == nil || *s.Pattern {
		if by, err = split(gpt2, "Isolated", false); err != nil {
			return nil, err
		}
	}
	return func(words []string) (_ []string, err error) {
		if s.Prefix {
			for i, w := range words {
				if !strings.HasPrefix(w, " ") {
					words[i] = " " + w
				}
			}
		}
		if by != nil {
			if words, err = by(words); err != nil {
				return nil, err
			}
		}
		for i, w := range words {
			words[i] = spelled(w)
		}
		return words, nil
	}, nil
}
