package str

import (
	"encoding/binary"
	"unicode"
	"unicode/utf8"

	"github.com/tenonml/tenon/internal/par"
)

// Lower returns each string with its ASCII letters in lower case and all other bytes unchanged.
func Lower(x Column) Column { return letters(x, 'A', 'Z') }

// Upper returns each string with its ASCII letters in upper case and all other bytes unchanged.
func Upper(x Column) Column { return letters(x, 'a', 'z') }

// letters flips the case of the bytes in the range [first, last], which are letters.
func letters(x Column, first, last byte) Column {
	const grain = 256 << 10
	if x.Size() <= grain {
		out := Concat(x)
		flipCase(out.Bytes, out.Bytes, first, last)
		return out
	}
	// Lengths do not change, so the result shares the offsets of x.
	from, to := x.Offsets[0], x.Offsets[x.Len()]
	out := Column{Offsets: x.Offsets, Bytes: freshBytes(int(to))}
	clear(out.Bytes[:from])
	dst, src := out.Bytes[from:], x.Bytes[from:to]
	par.For(len(src), grain, func(lo, hi int) { flipCase(dst[lo:hi], src[lo:hi], first, last) })
	return out
}

// flipCase writes the bytes of b to dst, which may be b, with the case of the letters from first to
// last flipped.
func flipCase(dst, b []byte, first, last byte) {
	dst = dst[:len(b)]
	for ; len(b) >= 8 && len(dst) >= 8; b, dst = b[8:], dst[8:] {
		// Eight bytes at a time: the additions carry into the top bit of bytes that are at least
		// first, and of bytes that are above last. Bytes whose own top bit is set are not letters.
		const ones = 0x0101010101010101
		w := binary.LittleEndian.Uint64(b)
		low := w &^ (0x80 * ones)
		atLeast := low + (0x80-uint64(first))*ones
		above := low + (0x7f-uint64(last))*ones
		binary.LittleEndian.PutUint64(dst, w^(atLeast&^above&^w&(0x80*ones))>>2)
	}
	for i, v := range b {
		if first <= v && v <= last {
			v ^= 0x20
		}
		dst[i] = v
	}
}

// inASCII reports whether all bytes of a column are ASCII, so that each byte is a character.
func inASCII(x Column) bool {
	return x.Len() == 0 || isASCII(x.Bytes[x.Offsets[0]:x.Offsets[x.Len()]])
}

// LowerUTF8 returns each string in lower case, by Unicode's full mapping for no particular
// language: a capital sigma at the end of a word becomes a final sigma, and a dotted capital I
// keeps its dot as a separate character. Malformed bytes become U+FFFD.
func LowerUTF8(x Column) Column {
	if inASCII(x) {
		return Lower(x)
	}
	return mapped(x.Len(), x, func(dst []byte, i int, x Column) []byte {
		s := x.At(i)
		for at := 0; at < len(s); {
			c, size, ok := decodeUTF8(s[at:])
			switch {
			case c < utf8.RuneSelf:
				if 'A' <= c && c <= 'Z' {
					c += 0x20
				}
				dst = append(dst, byte(c))
			case !ok:
				dst = utf8.AppendRune(dst, utf8.RuneError)
			case c == 'İ':
				dst = append(dst, "i\u0307"...)
			case c == 'Σ' && finalSigma(s, at, at+size):
				dst = append(dst, "ς"...)
			default:
				dst = utf8.AppendRune(dst, unicode.ToLower(c))
			}
			at += size
		}
		return dst
	})
}

// UpperUTF8 returns each string in upper case, by Unicode's full mapping for no particular
// language, so that one character may become several. Malformed bytes become U+FFFD.
func UpperUTF8(x Column) Column {
	if inASCII(x) {
		return Upper(x)
	}
	return mapped(x.Len(), x, func(dst []byte, i int, x Column) []byte {
		for s := x.At(i); len(s) > 0; {
			c, size, ok := decodeUTF8(s)
			s = s[size:]
			if !ok {
				dst = utf8.AppendRune(dst, utf8.RuneError)
			} else if c < utf8.RuneSelf {
				if 'a' <= c && c <= 'z' {
					c -= 0x20
				}
				dst = append(dst, byte(c))
			} else if several, ok := fullUpper[c]; ok {
				dst = append(dst, several...)
			} else {
				dst = utf8.AppendRune(dst, unicode.ToUpper(c))
			}
		}
		return dst
	})
}

// finalSigma reports whether s[from:to] is at the end of a word: a cased letter precedes it and
// none follows, not counting case-ignorable characters (the Unicode Standard, section 3.13).
func finalSigma(s []byte, from, to int) bool {
	before := false
	for from > 0 {
		c, size := utf8.DecodeLastRune(s[:from])
		from -= size
		if !ignoredByCase(c) {
			before = hasCase(c)
			break
		}
	}
	for before && to < len(s) {
		c, size := utf8.DecodeRune(s[to:])
		to += size
		if !ignoredByCase(c) {
			return !hasCase(c)
		}
	}
	return before
}

func hasCase(c rune) bool {
	return unicode.In(c, unicode.Lu, unicode.Ll, unicode.Lt, unicode.Other_Lowercase, unicode.Other_Uppercase)
}

func ignoredByCase(c rune) bool {
	switch c {
	case '\'', '.', ':', 0xb7, 0x387, 0x55f, 0x5f4, 0x2018, 0x2019, 0x2024, 0x2027, 0xfe13, 0xfe52, 0xfe55, 0xff07, 0xff0e, 0xff1a:
		return true
	}
	return unicode.In(c, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}
