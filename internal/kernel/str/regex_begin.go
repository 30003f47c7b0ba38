package str

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// begins256 is the set of bytes that a match of a pattern can begin with; it is nil for a pattern whose matches
// may be empty or may begin with any byte. Most strings do not match, and looking for a first byte takes a small
// fraction of the time that matching takes to find that out.
type begins256 [256]bool

// newKept returns a cache entry for a pattern; re may be the pattern with something added around
// it.
func newKept(re *regexp.Regexp, pattern string) *kept {
	pattern = strings.Clone(pattern)
	k := &kept{re: re, table: sync.OnceValue(func() *regexTable { return tableOf(pattern) })}
	if alone, err := syntax.Parse(pattern, syntax.Perl); err == nil {
		alone = alone.Simplify()
		k.literal = literalOf(alone)
		k.plain = plainOf(alone)
	}
	tree, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil {
		return k
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return k
	}
	b := new(begins256)
	if b.add(prog, uint32(prog.Start), make([]bool, len(prog.Inst))) && slices.Contains(b[:], false) {
		k.begins = b
	}
	k.local = !slices.ContainsFunc(prog.Inst, func(i syntax.Inst) bool { return i.Op == syntax.InstEmptyWidth })
	return k
}

// add adds the bytes that can come first from an instruction on, and reports false if a match may
// be empty.
func (b *begins256) add(prog *syntax.Prog, pc uint32, seen []bool) bool {
	if seen[pc] {
		return true
	}
	seen[pc] = true
	switch i := &prog.Inst[pc]; i.Op {
	case syntax.InstMatch:
		return false
	case syntax.InstFail:
		return true
	case syntax.InstAlt, syntax.InstAltMatch:
		return b.add(prog, i.Out, seen) && b.add(prog, i.Arg, seen)
	case syntax.InstCapture, syntax.InstNop, syntax.InstEmptyWidth:
		return b.add(prog, i.Out, seen)
	case syntax.InstRune, syntax.InstRune1:
		if len(i.Rune) == 1 {
			r := i.Rune[0]
			b.addRange(r, r)
			if syntax.Flags(i.Arg)&syntax.FoldCase != 0 {
				for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
					b.addRange(f, f)
				}
			}
			return true
		}
		for k := 0; k+1 < len(i.Rune); k += 2 {
			b.addRange(i.Rune[k], i.Rune[k+1])
		}
		return true
	}
	b.addRange(0, unicode.MaxRune) // any character
	return true
}

// addRange adds the first bytes of characters. For characters that are not ASCII it adds all bytes
// that are not, including malformed ones.
func (b *begins256) addRange(lo, hi rune) {
	for r := max(lo, 0); r <= hi && r < utf8.RuneSelf; r++ {
		b[r] = true
	}
	if hi >= utf8.RuneSelf {
		for k := utf8.RuneSelf; k < len(b); k++ {
			b[k] = true
		}
	}
}

// in reports whether a match may begin anywhere in s.
func (b *begins256) in(s []byte) bool {
	if b == nil {
		return true
	}
	for _, c := range s {
		if b[c] {
			return true
		}
	}
	return false
}

// at reports whether a match may begin at the start of s.
func (b *begins256) at(s []byte) bool { return b == nil || len(s) > 0 && b[s[0]] }
