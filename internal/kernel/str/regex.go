package str

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/tenonml/tenon/internal/par"
)

// RegexFullMatch writes to out whether pattern matches the whole of each string. Patterns have
// RE2's syntax, as in package regexp.
func RegexFullMatch(out []bool, x Column, pattern string) error {
	re, err := whole.compile(pattern)
	if err != nil {
		return fmt.Errorf("pattern %q is not a regular expression: %w", pattern, err)
	}
	grain, table := 256, (*regexTable)(nil)
	if re.plain == nil && x.Len() > fewKept {
		table = re.table()
	}
	if re.plain != nil || table != nil {
		grain = chunk
	}
	if x.Len() <= grain {
		matches(out, x, re, table, 0, x.Len())
	} else {
		par.For(x.Len(), grain, func(lo, hi int) { matches(out, x, re, table, lo, hi) })
	}
	return nil
}

func matches(out []bool, x Column, p *kept, table *regexTable, lo, hi int) {
	if p.plain != nil {
		p.plain.matches(out, x, lo, hi)
		return
	}
	for i := lo; i < hi; i++ {
		s, ok := x.At(i), false
		if table != nil {
			out[i], ok = table.matches(s)
		}
		if !ok {
			out[i] = p.begins.at(s) && p.re.Match(s)
		}
	}
}

// A kept pattern is a compiled pattern in the cache.
type kept struct {
	re     *regexp.Regexp
	begins *begins256 // bytes that its matches can begin with
	local  bool       // matching does not depend on the surrounding text

	literal []byte        // the only text that matches, or nil
	plain   *plainPattern // nil if the pattern is not plain

	table func() *regexTable // for full matches; made when many strings are to be matched
}

// A patternCache keeps the most recently used patterns, because compiling one takes longer than
// matching a few dozen strings.
type patternCache struct {
	make func(pattern string) (*regexp.Regexp, error)

	mu   sync.RWMutex
	kept map[string]*kept
}

// keptPatterns is the number of patterns kept; keptLength is the largest length of one in bytes.
const (
	keptPatterns = 64
	keptLength   = 1 << 10
)

var (
	anywhere = patternCache{make: regexp.Compile}
	whole    = patternCache{make: func(pattern string) (*regexp.Regexp, error) {
		if _, err := regexp.Compile(pattern); err != nil {
			return nil, err // the error for the pattern as given
		}
		return regexp.Compile(`\A(?:` + pattern + `)\z`)
	}}
)

func (p *patternCache) compile(pattern string) (*kept, error) {
	p.mu.RLock()
	found := p.kept[pattern]
	p.mu.RUnlock()
	if found != nil {
		return found, nil
	}
	re, err := p.make(pattern)
	if err != nil {
		return nil, err
	}
	found = newKept(re, pattern)
	if len(pattern) > keptLength {
		return found, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kept == nil || len(p.kept) >= keptPatterns {
		p.kept = make(map[string]*kept, keptPatterns)
	}
	p.kept[strings.Clone(pattern)] = found
	return found, nil
}

// RegexReplace returns each string with the matches of pattern replaced by rewrite, in which \1 to
// \9 stand for the text of a group, \0 for the whole match, and \\ for a backslash. Unless global
// is set, only the first match is replaced. An empty match directly after another match is skipped.
func RegexReplace(x Column, pattern, rewrite string, global bool) (Column, error) {
	p, err := anywhere.compile(pattern)
	if err != nil {
		return Column{}, fmt.Errorf("pattern %q is not a regular expression: %w", pattern, err)
	}
	parts, err := parseRewrite(rewrite, p.re.NumSubexp())
	if err != nil {
		return Column{}, err
	}
	if p.literal != nil && x.Len() > fewKept {
		most := 1
		if global {
			most = 0
		}
		f := find(x, p.literal, most)
		return f.replace(literalText(parts, p.literal)), nil
	}
	return mapped(x.Len(), replacement{x, p, parts, global}, func(dst []byte, i int, with replacement) []byte {
		s, p := with.x.At(i), with.pattern
		if p.begins != nil && (p.local || !with.global) {
			for p.begins.in(s) {
				m := p.re.FindSubmatchIndex(s)
				if m == nil {
					break
				}
				dst, s = with.rewrite(dst, s, 0, m), s[m[1]:]
				if !with.global {
					break
				}
			}
			return append(dst, s...)
		}
		most, end := -1, 0
		if !with.global {
			most = 1
		}
		for _, m := range p.re.FindAllSubmatchIndex(s, most) {
			dst, end = with.rewrite(dst, s, end, m), m[1]
		}
		return append(dst, s[end:]...)
	}), nil
}

// A replacement is the arguments of a chunk of [RegexReplace].
type replacement struct {
	x       Column
	pattern *kept
	parts   []rewritePart
	global  bool
}

// rewrite appends the text of s between from and a match, followed by the replacement of the match.
func (w *replacement) rewrite(dst, s []byte, from int, m []int) []byte {
	dst = append(dst, s[from:m[0]]...)
	for _, p := range w.parts {
		dst = append(dst, p.text...)
		if p.group >= 0 && m[2*p.group] >= 0 {
			dst = append(dst, s[m[2*p.group]:m[2*p.group+1]]...)
		}
	}
	return dst
}

// fewKept is the number of strings up to which each is searched individually.
const fewKept = 64

// literalText returns the replacement for a match that is always the same text.
func literalText(parts []rewritePart, match []byte) []byte {
	var text []byte
	for _, p := range parts {
		text = append(text, p.text...)
		if p.group == 0 {
			text = append(text, match...)
		}
	}
	return text
}

// A rewritePart is literal text followed by the text of a group, or by nothing if the group is -1.
type rewritePart struct {
	text  []byte
	group int
}

func parseRewrite(rewrite string, groups int) ([]rewritePart, error) {
	var parts []rewritePart
	var text []byte
	for i := 0; i < len(rewrite); i++ {
		if rewrite[i] != '\\' {
			text = append(text, rewrite[i])
			continue
		}
		i++
		switch {
		case i < len(rewrite) && rewrite[i] == '\\':
			text = append(text, '\\')
		case i < len(rewrite) && '0' <= rewrite[i] && rewrite[i] <= '9':
			g := int(rewrite[i] - '0')
			if g > groups {
				return nil, fmt.Errorf("rewrite %q refers to group %d, but the pattern has %d", rewrite, g, groups)
			}
			parts = append(parts, rewritePart{text, g})
			text = nil
		default:
			return nil, fmt.Errorf("in rewrite %q, a backslash is not followed by a digit or a backslash", rewrite)
		}
	}
	return append(parts, rewritePart{text, -1}), nil
}
