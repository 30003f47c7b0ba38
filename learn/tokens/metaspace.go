package tokens

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// metaspace writes spaces as a printable character, which begins a word.
type metaspace struct {
	space  string
	prefix bool // a word at the beginning of a text begins with it, too
	split  bool
}

func readMetaspace(part json.RawMessage) (*metaspace, error) {
	s, err := readAs[struct {
		Space  string `json:"replacement"`
		Prefix *bool  `json:"add_prefix_space"` // in old files
		Scheme string `json:"prepend_scheme"`
		Split  *bool
	}](part)
	if err != nil {
		return nil, err
	}
	m := &metaspace{s.Space, true, s.Split == nil || *s.Split}
	if utf8.RuneCountInString(s.Space) != 1 {
		return nil, invalid("spaces are written as %q, want one character", s.Space)
	}
	switch s.Scheme {
	case "always":
	case "never":
		m.prefix = false
	case "":
		m.prefix = s.Prefix == nil || *s.Prefix
	default:
		return nil, unsupported("the prepend scheme of a Metaspace is %q", s.Scheme)
	}
	return m, nil
}

// divide is a [division].
func (m *metaspace) divide(words []string) (out []string, _ error) {
	for _, w := range words {
		w = strings.ReplaceAll(w, " ", m.space)
		if m.prefix && !strings.HasPrefix(w, m.space) {
			w = m.space + w
		}
		for m.split && w != "" {
			at := 1 + strings.Index(w[1:], m.space)
			if at == 0 {
				break
			}
			out, w = append(out, w[:at]), w[at:]
		}
		out = append(out, w)
	}
	return out, nil
}

// join joins pieces to a text. A space that was put before the first piece is removed.
func (m *metaspace) join(pieces []string) string {
	var b strings.Builder
	for i, p := range pieces {
		space := " "
		if i == 0 && m.prefix {
			space = ""
		}
		b.WriteString(strings.ReplaceAll(p, m.space, space))
	}
	return b.String()
}
