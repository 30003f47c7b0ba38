package jsoncol

import "unicode/utf8"

// skip checks the grammar of the value at i, including white space before it, and returns the
// position after it. It does not detect duplicate keys. depth is the number of levels that the
// value may have.
func (p *parser) skip(i, depth int) int {
	t := p.t
	c := t.byte(i)
	if c <= ' ' {
		i = p.space(i)
		c = t.byte(i)
	}
	switch c {
	case '"':
		return p.skipString(i + 1)
	case '{':
		if depth == 0 {
			return p.tooDeep(i)
		}
		return p.skipObject(i+1, depth-1)
	case '[':
		if depth == 0 {
			return p.tooDeep(i)
		}
		return p.skipArray(i+1, depth-1)
	case 't', 'n':
		if w := uint32(t.word(i)); w == litTrue || w == litNull {
			return i + 4
		}
	case 'f':
		if t.word(i)&mask5 == litFalse {
			return i + 5
		}
	default:
		if c != '-' && c-'0' > 9 && !(p.nonFinite && (c == 'N' || c == 'I')) {
			break
		}
		if p.nonFinite {
			if _, j := p.literal(i); j >= 0 {
				return j
			}
		}
		end, _ := p.number(i)
		return end
	}
	return p.expected(i, "a value")
}

// skipObject checks the object whose opening brace is before i.
func (p *parser) skipObject(i, depth int) int {
	t := p.t
	if t.byte(i) != '"' {
		if i = p.space(i); t.byte(i) == '}' {
			return i + 1
		}
	}
	for {
		if t.byte(i) != '"' {
			if i = p.space(i); t.byte(i) != '"' {
				return p.expected(i, "a key")
			}
		}
		if i = p.skipString(i + 1); i < 0 {
			return -1
		}
		if t.byte(i) == ':' {
			i++
		} else if i = p.colon(i); i < 0 {
			return -1
		}
		if i = p.skip(i, depth); i < 0 {
			return -1
		}
		c := t.byte(i)
		if c <= ' ' {
			i = p.space(i)
			c = t.byte(i)
		}
		if c == '}' {
			return i + 1
		}
		if c != ',' {
			return p.expected(i, "',' or '}' after a member")
		}
		i++
	}
}

// skipArray checks the array whose opening bracket is before i.
func (p *parser) skipArray(i, depth int) int {
	t := p.t
	if t.byte(i) <= ' ' {
		i = p.space(i)
	}
	if t.byte(i) == ']' {
		return i + 1
	}
	for {
		if i = p.skip(i, depth); i < 0 {
			return -1
		}
		c := t.byte(i)
		if c <= ' ' {
			i = p.space(i)
			c = t.byte(i)
		}
		if c == ']' {
			return i + 1
		}
		if c != ',' {
			return p.expected(i, "',' or ']' after an element")
		}
		i++
	}
}

func (p *parser) tooDeep(i int) int {
	return p.failf(i, TooDeep, "nested deeper than %d levels (MaxDepth)", p.maxDepth)
}

// skipString checks the string whose opening quote is before i.
func (p *parser) skipString(i int) int {
	t := p.t
	for {
		start := i
		var all uint64
		for {
			w := t.word(i)
			m := breaks(w)
			if m != 0 {
				k := trailing(m)
				all |= w & (1<<(uint(8*k)&63) - 1)
				i += k
				break
			}
			all |= w
			i += 8
		}
		if all&highs != 0 && p.unicode == UnicodeError && !utf8.Valid(t.slice(start, i)) {
			return p.badUTF8(start, i)
		}
		switch t.byte(i) {
		case '"':
			return i + 1
		case '\\':
			if _, i = p.escape(p.scratch[:0], i); i < 0 {
				return -1
			}
		default:
			return p.brokenString(i)
		}
	}
}

// brokenString records why the string cannot continue at i.
func (p *parser) brokenString(i int) int {
	if i >= p.end || p.t.byte(i) == '\n' && !p.multi {
		return p.expected(i, "'\"' at the end of the string")
	}
	return p.failf(i, Syntax, "control character 0x%02x in a string must be written as an escape", p.t.byte(i))
}
