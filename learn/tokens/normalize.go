package tokens

import (
	"encoding/json"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/tenonml/tenon"
)

// readNormalizer returns how a text is changed before it is split, or nil if it is not.
func readNormalizer(part json.RawMessage) (func(string) string, error) {
	kind, err := named(part)
	if err != nil {
		return nil, err
	}
	switch kind {
	case "":
		return nil, nil
	case "Sequence":
		return normalizers(part)
	case "NFC":
		return norm.NFC.String, nil
	case "NFD":
		return norm.NFD.String, nil
	case "NFKC":
		return norm.NFKC.String, nil
	case "NFKD":
		return norm.NFKD.String, nil
	case "Lowercase":
		return lower, nil
	case "StripAccents":
		return withoutMarks, nil
	case "BertNormalizer":
		return bertNormalizer(part)
	case "Precompiled":
		m, err := readCharsmap(part)
		if err != nil {
			return nil, err
		}
		return m.normalize, nil
	case "Prepend":
		s, err := readAs[struct{ Prepend string }](part)
		if err != nil {
			return nil, err
		}
		return func(text string) string {
			if text == "" {
				return ""
			}
			return s.Prepend + text
		}, nil
	case "Replace":
		s, err := readAs[struct {
			Pattern struct{ String, Regex *string }
			Content string
		}](part)
		if err != nil {
			return nil, err
		}
		if s.Pattern.Regex != nil {
			return replaced(*s.Pattern.Regex, s.Content)
		}
		if s.Pattern.String == nil || *s.Pattern.String == "" {
			return nil, invalid("the normalizer replaces nothing")
		}
		return func(text string) string { return strings.ReplaceAll(text, *s.Pattern.String, s.Content) }, nil
	case "Strip":
		s, err := readAs[struct {
			Left  bool `json:"strip_left"`
			Right bool `json:"strip_right"`
		}](part)
		if err != nil {
			return nil, err
		}
		return func(text string) string {
			if s.Left {
				text = strings.TrimLeftFunc(text, unicode.IsSpace)
			}
			if s.Right {
				text = strings.TrimRightFunc(text, unicode.IsSpace)
			}
			return text
		}, nil
	}
	return nil, unsupported("the normalizer is %q", kind)
}

// replaced replaces the matches of a pattern.
func replaced(pattern, by string) (func(string) string, error) {
	re, err := compile(pattern)
	if err != nil {
		return nil, err
	}
	return func(text string) string {
		found, err := re.FindAllStringIndex(text, -1)
		tenon.Throw(err)
		var b strings.Builder
		at := 0
		for _, m := range found {
			b.WriteString(text[at:m[0]])
			b.WriteString(by)
			at = m[1]
		}
		b.WriteString(text[at:])
		return b.String()
	}, nil
}

func normalizers(part json.RawMessage) (func(string) string, error) {
	s, err := readAs[struct{ Normalizers []json.RawMessage }](part)
	if err != nil {
		return nil, err
	}
	var all []func(string) string
	for _, part := range s.Normalizers {
		f, err := readNormalizer(part)
		if err != nil {
			return nil, err
		}
		if f != nil {
			all = append(all, f)
		}
	}
	return func(text string) string {
		for _, f := range all {
			text = f(text)
		}
		return text
	}, nil
}

// lower maps each character to lower case on its own, so that a sigma does not depend on its
// position.
func lower(text string) string {
	return strings.ReplaceAll(strings.Map(unicode.ToLower, strings.ReplaceAll(text, "İ", "i̇")), "\u1e9e", "ß")
}

// withoutMarks drops combining marks.
func withoutMarks(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, text)
}

func bertNormalizer(part json.RawMessage) (func(string) string, error) {
	s, err := readAs[struct {
		Clean   bool  `json:"clean_text"`
		Chinese bool  `json:"handle_chinese_chars"`
		Accents *bool `json:"strip_accents"`
		Lower   bool  `json:"lowercase"`
	}](part)
	if err != nil {
		return nil, err
	}
	return func(text string) string {
		if s.Clean {
			text = strings.Map(clean, text)
		}
		if s.Chinese {
			text = apart(text, ideograph)
		}
		if s.Accents == nil && s.Lower || s.Accents != nil && *s.Accents {
			text = withoutMarks(norm.NFD.String(text))
		}
		if s.Lower {
			text = lower(text)
		}
		return text
	}, nil
}

// clean maps white space to spaces, and drops invisible characters.
func clean(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case r == 0, r == unicode.ReplacementChar, unicode.Is(unicode.C, r), !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z):
		return -1
	}
	return r
}

// apart puts spaces around characters that satisfy is.
func apart(text string, is func(rune) bool) string {
	var b strings.Builder
	for _, r := range text {
		if is(r) {
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// ideograph reports whether a character is in one of the blocks of CJK ideographs around which BERT splits
// texts.
func ideograph(r rune) bool {
	for _, block := range [][2]rune{{0x4e00, 0x9fff}, {0x3400, 0x4dbf}, {0x20000, 0x2a6df}, {0x2a700, 0x2b73f}, {0x2b740, 0x2b81f}, {0x2b920, 0x2ceaf}, {0xf900, 0xfaff}, {0x2f800, 0x2fa1f}} {
		if r >= block[0] && r <= block[1] {
			return true
		}
	}
	return false
}
