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

// begins256 has the bytes that a match of a pattern can begin with; a pattern whose matches
// may be empty or begin with any byte has none. Most strings have no match, and looking for a byte takes a small
// part of the time that finding this out by matching takes.
type begins256 [256]bool

// newKept returns a pattern with what is known of its matches; re may be the pattern with
// something around it.
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

// add adds what can come first from an instruction on, and reports false where that may be
// nothing at all.
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

// addRange adds the first bytes of characters: all bytes that are not ASCII for those that
// are not, malformed bytes included.
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

// in reports whether a match may begin somewhere in s.
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

// at reports whether a match may begin where s does.
func (b *begins256) at(s []byte) bool { return b == nil || len(s) > 0 && b[s[0]] }
