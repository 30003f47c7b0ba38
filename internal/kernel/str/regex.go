package str

import (
	"fmt"
	"regexp"

	"github.com/tenonml/tenon/internal/par"
)

// RegexFullMatch writes whether pattern matches all of each string to out. Patterns are
// RE2's, as in package regexp.
func RegexFullMatch(out []bool, x Column, pattern string) error {
	if _, err := regexp.Compile(pattern); err != nil {
		return fmt.Errorf("the pattern %q is no regular expression: %w", pattern, err)
	}
	re, err := regexp.Compile(`\A(?:` + pattern + `)\z`)
	if err != nil {
		return fmt.Errorf("the pattern %q is no regular expression: %w", pattern, err)
	}
	par.For(x.Len(), 256, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			out[i] = re.Match(x.At(i))
		}
	})
	return nil
}

// RegexReplace returns each string with what pattern matches replaced by rewrite, in
// which \1 to \9 stand for the text of a group, \0 for all of the match and \\ for a
// backslash. Without global only the first match is replaced. An empty match right
// behind another match is passed over.
func RegexReplace(x Column, pattern, rewrite string, global bool) (Column, error) {
	re, err := regexp.Compile(pattern)
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
	return mapped(x.Len(), func(dst []byte, i int) []byte {
		s := x.At(i)
		end := 0
		for _, m := range re.FindAllSubmatchIndex(s, matches) {
			dst = append(dst, s[end:m[0]]...)
			for _, p := range parts {
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
