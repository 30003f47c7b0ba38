package str

import (
	"bytes"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// A plainPattern matches strings that begin with, end with, contain or equal a text. These are the
// most common patterns.
type plainPattern struct {
	text          []byte
	before, after anything // what may be around the text
}

// anything says which bytes may surround the text.
type anything uint8

const (
	nothing anything = iota
	inLine           // any but a newline
	any256           // any
)

// literalOf returns the only text that a pattern matches, or nil. A text that contains U+FFFD does
// not qualify, because it also matches malformed bytes.
func literalOf(re *syntax.Regexp) []byte {
	if re.Op != syntax.OpLiteral || re.Flags&syntax.FoldCase != 0 || slices.Contains(re.Rune, utf8.RuneError) {
		return nil
	}
	return []byte(string(re.Rune))
}

// plainOf returns a pattern as a plain one, or nil.
func plainOf(re *syntax.Regexp) *plainPattern {
	parts := []*syntax.Regexp{re}
	if re.Op == syntax.OpConcat {
		parts = re.Sub
	}
	p := new(plainPattern)
	if len(parts) > 1 {
		if p.before = anythingOf(parts[0]); p.before != nothing {
			parts = parts[1:]
		}
	}
	if len(parts) == 2 {
		if p.after = anythingOf(parts[1]); p.after != nothing {
			parts = parts[:1]
		}
	}
	if len(parts) != 1 {
		return nil
	}
	if p.text = literalOf(parts[0]); p.text == nil {
		return nil
	}
	if lines := p.before == inLine || p.after == inLine; lines && (bytes.IndexByte(p.text, '\n') >= 0 || p.before != nothing && p.after != nothing && p.before != p.after) {
		return nil
	}
	return p
}

// anythingOf returns which bytes a pattern matches any number of.
func anythingOf(re *syntax.Regexp) anything {
	if re.Op == syntax.OpStar {
		switch re.Sub[0].Op {
		case syntax.OpAnyCharNotNL:
			return inLine
		case syntax.OpAnyChar:
			return any256
		}
	}
	return nothing
}

// matches writes to out which of the strings [lo, hi) match.
func (p *plainPattern) matches(out []bool, x Column, lo, hi int) {
	lines := p.before == inLine || p.after == inLine
	switch {
	case p.before != nothing && p.after != nothing:
		for i := lo; i < hi; i++ {
			out[i] = bytes.Contains(x.At(i), p.text)
		}
	case len(p.text) > 8:
		for i := lo; i < hi; i++ {
			switch s := x.At(i); {
			case p.before != nothing:
				out[i] = bytes.HasSuffix(s, p.text)
			case p.after != nothing:
				out[i] = bytes.HasPrefix(s, p.text)
			default:
				out[i] = string(s) == string(p.text)
			}
		}
	default:
		p.matchShort(out, x, lo, hi)
	}
	if lines { // the text contains no newline
		for i := lo; i < hi; i++ {
			out[i] = out[i] && bytes.IndexByte(x.At(i), '\n') < 0
		}
	}
}

// matchShort matches a short text at the beginning or end of strings, or all of them, by comparing
// it as a number.
func (p *plainPattern) matchShort(out []bool, x Column, lo, hi int) {
	size := int64(len(p.text))
	var room [8]byte
	copy(room[:], p.text)
	word, mask := load64(room[:]), uint64(1)<<(8*uint64(size))-1
	exact, fromEnd := int64(0), int64(0) // masks
	if p.before != nothing {
		fromEnd = -1
	} else if p.after == nothing {
		exact = -1
	}
	offsets := x.Offsets[lo : hi+1]
	for i := range hi - lo {
		a, n := offsets[i], offsets[i+1]-offsets[i]
		at := a + (n-size)&fromEnd
		wrong := uint64((n-size)>>63 | (n^size)&exact)
		if at < 0 || at+8 > int64(len(x.Bytes)) {
			at = min(max(at, 0), int64(len(x.Bytes)))
			var word8 [8]byte
			copy(word8[:], x.Bytes[at:])
			wrong |= (load64(word8[:]) ^ word) & mask
		} else {
			wrong |= (load64(x.Bytes[at:]) ^ word) & mask
		}
		out[lo+i] = wrong == 0
	}
}
