package str

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/tenonml/tenon/internal/par"
)

// RegexFullMatch writes whether pattern matches all of each string to out. Patterns are
// RE2's, as in package regexp.
func RegexFullMatch(out []bool, x Column, pattern string) error {
	re, err := whole.compile(pattern)
	if err != nil {
		return fmt.Errorf("the pattern %q is no regular expression: %w", pattern, err)
	}
	const grain = 256
	if x.Len() <= grain {
		matches(out, x, re, 0, x.Len())
	} else {
		par.For(x.Len(), grain, func(lo, hi int) { matches(out, x, re, lo, hi) })
	}
	return nil
}

func matches(out []bool, x Column, re *regexp.Regexp, lo, hi int) {
	for i := lo; i < hi; i++ {
		out[i] = re.Match(x.At(i))
	}
}

// A patternCache keeps the patterns that were used last: reading one takes longer than
// matching some dozens of strings.
type patternCache struct {
	make func(pattern string) (*regexp.Regexp, error)

	mu   sync.RWMutex
	kept map[string]*regexp.Regexp
}

// keptPatterns is how many patterns are kept, of at most keptLength bytes each.
const (
	keptPatterns = 64
	keptLength   = 1 << 10
)

var (
	anywhere = patternCache{make: regexp.Compile}
	whole    = patternCache{make: func(pattern string) (*regexp.Regexp, error) {
		if _, err := regexp.Compile(pattern); err != nil {
			return nil, err // of the pattern as it was given
		}
		return regexp.Compile(`\A(?:` + pattern + `)\z`)
	}}
)

func (p *patternCache) compile(pattern string) (*regexp.Regexp, error) {
	p.mu.RLock()
	re := p.kept[pattern]
	p.mu.RUnlock()
	if re != nil {
		return re, nil
	}
	re, err := p.make(pattern)
	if err != nil || len(pattern) > keptLength {
		return re, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kept == nil || len(p.kept) >= keptPatterns {
		p.kept = make(map[string]*regexp.Regexp, keptPatterns)
	}
	p.kept[strings.Clone(pattern)] = re
	return re, nil
}

// RegexReplace returns each string with what pattern matches replaced by rewrite, in
// which \1 to \9 stand for the text of a group, \0 for all of the match and \\ for a
// backslash. Without global only the first match is replaced. An empty match right
// behind another match is passed over.
func RegexReplace(x Column, pattern, rewrite string, global bool) (Column, error) {
	re, err := anywhere.compile(pattern)
	if err != nil {
		return Column{}, fmt.Errorf("the pattern %q is no regular expression: %w", pattern, err)
	}
	parts, err := parseRewrite(rewrite, re.NumSubexp())
	if err != nil {
		return Column{}, err
	}
	matches := 1
	if global {
		matches = -1
	}
	return mapped(x.Len(), replacement{x, re, parts, matches}, func(dst []byte, i int, with replacement) []byte {
		s := with.x.At(i)
		end := 0
		for _, m := range with.re.FindAllSubmatchIndex(s, with.matches) {
			dst = append(dst, s[end:m[0]]...)
			for _, p := range with.parts {
				dst = append(dst, p.text...)
				if p.group >= 0 && m[2*p.group] >= 0 {
					dst = append(dst, s[m[2*p.group]:m[2*p.group+1]]...)
				}
			}
			end = m[1]
		}
		return append(dst, s[end:]...)
	}), nil
}

// A replacement is what [RegexReplace] replaces in what, and how often at most.
type replacement struct {
	x       Column
	re      *regexp.Regexp
	parts   []rewritePart
	matches int // -1: any number
}

// A rewritePart is literal text and then the text of a group, -1 for none.
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
				return nil, fmt.Errorf("the rewrite %q names group %d of a pattern with %d", rewrite, g, groups)
			}
			parts = append(parts, rewritePart{text, g})
			text = nil
		default:
			return nil, fmt.Errorf("in the rewrite %q a backslash is followed by neither a digit nor a backslash", rewrite)
		}
	}
	return append(parts, rewritePart{text, -1}), nil
}
