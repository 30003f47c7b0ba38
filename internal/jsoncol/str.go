package jsoncol

import (
	"unicode/utf16"
	"unicode/utf8"
)

// plainString adds the string whose opening quote is before i as a row of n, if it is all ASCII
// without escapes. Otherwise it adds nothing and returns -1.
//
// It copies eight bytes at a time while it looks for the quote; excess bytes go to the slack and
// are overwritten later.
func (n *node) plainString(t text, i int) int {
	at := n.nb
	for {
		if at+16 > len(n.bytes) {
			n.bytes = grown(n.bytes, n.mostBytes)
			continue
		}
		v, w := t.word(i), t.word(i+8)
		putWord(n.bytes, at, v)
		putWord(n.bytes, at+8, w)
		k := trailing(stops(v))
		if k == 8 {
			k += trailing(stops(w))
		}
		i += k
		at += k
		if k != 16 {
			break
		}
	}
	if t.byte(i) != '"' || n.n >= len(n.ends) {
		return -1
	}
	n.ends[n.n] = int64(at)
	n.n++
	n.nb = at
	return i + 1
}

// str reads the string whose opening quote is before i as a row of n.
func (p *parser) str(i int, n *node) int {
	b, end := p.unquote(n.bytes[:n.nb], i)
	if end < 0 {
		return -1
	}
	n.nb = len(b)
	n.bytes = b[:cap(b)]
	n.pushEnd(n.nb)
	return end
}

// unquote appends the decoded string whose opening quote is before i to dst.
func (p *parser) unquote(dst []byte, i int) ([]byte, int) {
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
		if i > start {
			run := t.slice(start, i)
			if all&highs != 0 && !utf8.Valid(run) {
				if p.unicode == UnicodeError {
					return dst, p.badUTF8(start, i)
				}
				dst = appendValid(dst, run)
			} else {
				dst = append(dst, run...)
			}
		}
		switch t.byte(i) {
		case '"':
			return dst, i + 1
		case '\\':
			if dst, i = p.escape(dst, i); i < 0 {
				return dst, -1
			}
		default:
			return dst, p.brokenString(i)
		}
	}
}

// badUTF8 records the first byte in [i, end) that is not UTF-8.
func (p *parser) badUTF8(i, end int) int {
	for i < end {
		r, size := utf8.DecodeRune(p.t.slice(i, end))
		if r == utf8.RuneError && size == 1 {
			break
		}
		i += size
	}
	return p.failf(i, BadText, "byte 0x%02x is not UTF-8 (Unicode: replace would accept it)", p.t.byte(i))
}

// appendValid appends s with each byte that is not UTF-8 replaced.
func appendValid(dst, s []byte) []byte {
	for len(s) > 0 {
		r, size := utf8.DecodeRune(s)
		dst = utf8.AppendRune(dst, r)
		s = s[size:]
	}
	return dst
}

// escapes maps the letter after a backslash to the character it stands for.
var escapes = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// escape appends the character of the escape sequence at i.
func (p *parser) escape(dst []byte, i int) ([]byte, int) {
	t := p.t
	c := t.byte(i + 1)
	if e := escapes[c]; e != 0 {
		return append(dst, e), i + 2
	}
	if c != 'u' {
		return dst, p.failf(i, Syntax, "%s is not an escape sequence", p.show(i))
	}
	r := hex4(t, i+2)
	if r < 0 {
		return dst, p.failf(i, Syntax, "\\u needs four hexadecimal digits, found %s", p.show(i))
	}
	end := i + 6
	if utf16.IsSurrogate(r) {
		if t.byte(end) == '\\' && t.byte(end+1) == 'u' {
			if pair := utf16.DecodeRune(r, hex4(t, end+2)); pair != utf8.RuneError {
				return utf8.AppendRune(dst, pair), end + 6
			}
		}
		if p.unicode == UnicodeError {
			return dst, p.failf(i, BadText, "%s is half of a surrogate pair (Unicode: replace would accept it)", t.slice(i, end))
		}
		r = utf8.RuneError
	}
	return utf8.AppendRune(dst, r), end
}

// hex4 returns the number in the four hexadecimal digits at i, or -1.
func hex4(t text, i int) rune {
	var r rune
	for j := range 4 {
		c := t.byte(i + j)
		switch {
		case c-'0' <= 9:
			c -= '0'
		case c|0x20-'a' < 6:
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}
