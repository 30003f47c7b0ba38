package str

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"
)

// An Encoding is an encoding of characters as bytes.
type Encoding uint8

// The encodings that strings can be decoded from. They can be encoded only in the first three.
const (
	UTF8 Encoding = iota
	UTF16BE
	UTF32BE
	UTF16LE
	UTF32LE
	ASCII
	Latin1
)

var encodings = []struct {
	name    string
	aliases string
}{
	UTF8:    {"UTF-8", "UTF8"},
	UTF16BE: {"UTF-16-BE", "UTF16BE"},
	UTF32BE: {"UTF-32-BE", "UTF32BE"},
	UTF16LE: {"UTF-16-LE", "UTF16LE"},
	UTF32LE: {"UTF-32-LE", "UTF32LE"},
	ASCII:   {"US-ASCII", "USASCII ASCII ANSIX3.41968 ISO646US"},
	Latin1:  {"ISO-8859-1", "ISO88591 LATIN1 L1 CP819 IBM819"},
}

// String returns the encoding's usual name: "UTF-16-BE".
func (e Encoding) String() string {
	if int(e) < len(encodings) {
		return encodings[e].name
	}
	return fmt.Sprintf("encoding(%d)", uint8(e))
}

// ParseEncoding returns the encoding of the given name, for decoding. It ignores case, hyphens,
// underscores and spaces.
func ParseEncoding(name string) (Encoding, error) {
	for e, d := range encodings {
		if d.name == name {
			return Encoding(e), nil
		}
	}
	plain := strings.ToUpper(strings.NewReplacer("-", "", "_", "", " ", "").Replace(name))
	var names []string
	for e, d := range encodings {
		for a := range strings.FieldsSeq(d.aliases) {
			if a == plain {
				return Encoding(e), nil
			}
		}
		names = append(names, d.name)
	}
	return 0, fmt.Errorf("unknown encoding %q; use one of %s", name, strings.Join(names, ", "))
}

// ParseOutputEncoding returns the encoding of the given name, for encoding: UTF-8, UTF-16-BE or
// UTF-32-BE.
func ParseOutputEncoding(name string) (Encoding, error) {
	for e := UTF8; e <= UTF32BE; e++ {
		if name == e.String() {
			return e, nil
		}
	}
	return 0, fmt.Errorf("cannot encode strings as %q; use UTF-8, UTF-16-BE or UTF-32-BE", name)
}

// decode returns the first character of s, the number of bytes it occupies (at least one), and
// whether it is well-formed. s is not empty.
func (e Encoding) decode(s []byte) (c rune, size int, ok bool) {
	switch e {
	case UTF8:
		return decodeUTF8(s)
	case UTF16BE:
		return decodeUTF16(s, binary.BigEndian)
	case UTF16LE:
		return decodeUTF16(s, binary.LittleEndian)
	case UTF32BE:
		return decodeUTF32(s, binary.BigEndian)
	case UTF32LE:
		return decodeUTF32(s, binary.LittleEndian)
	case ASCII:
		return rune(s[0]), 1, s[0] < 0x80
	}
	return rune(s[0]), 1, true
}

// decodeUTF8 differs from utf8.DecodeRune in the size of malformed input: it returns the length of
// the longest prefix of some valid character, at least one byte.
func decodeUTF8(s []byte) (c rune, size int, ok bool) {
	if s[0] < utf8.RuneSelf {
		return rune(s[0]), 1, true
	}
	c, size = utf8.DecodeRune(s)
	if size > 1 {
		return c, size, true
	}
	need := 0
	low, high := byte(0x80), byte(0xbf) // range of the second byte
	switch b := s[0]; {
	case b < 0xc2 || b > 0xf4:
		return utf8.RuneError, 1, false
	case b < 0xe0:
		need = 2
	case b < 0xf0:
		need = 3
		if b == 0xe0 {
			low = 0xa0
		} else if b == 0xed {
			high = 0x9f
		}
	default:
		need = 4
		if b == 0xf0 {
			low = 0x90
		} else if b == 0xf4 {
			high = 0x8f
		}
	}
	for size = 1; size < min(need, len(s)); size++ {
		if s[size] < low || s[size] > high {
			break
		}
		low, high = 0x80, 0xbf
	}
	return utf8.RuneError, size, false
}

func decodeUTF16(s []byte, order binary.ByteOrder) (c rune, size int, ok bool) {
	if len(s) < 2 {
		return utf8.RuneError, len(s), false
	}
	switch u := order.Uint16(s); {
	case u < 0xd800 || u > 0xdfff:
		return rune(u), 2, true
	case u < 0xdc00 && len(s) >= 4:
		if v := order.Uint16(s[2:]); 0xdc00 <= v && v <= 0xdfff {
			return 0x10000 + rune(u-0xd800)<<10 + rune(v-0xdc00), 4, true
		}
	case u < 0xdc00:
		return utf8.RuneError, len(s), false // truncated surrogate pair
	}
	return utf8.RuneError, 2, false
}

func decodeUTF32(s []byte, order binary.ByteOrder) (c rune, size int, ok bool) {
	if len(s) < 4 {
		return utf8.RuneError, len(s), false
	}
	u := order.Uint32(s)
	if !isScalar(int64(u)) {
		return utf8.RuneError, 4, false
	}
	return rune(u), 4, true
}

// isScalar reports whether c is a Unicode scalar value: a code point that is not a surrogate.
func isScalar(c int64) bool {
	return 0 <= c && c < 0xd800 || 0xdfff < c && c <= utf8.MaxRune
}

// append appends c, which need not be a scalar value if the encoding can represent it.
func (e Encoding) append(dst []byte, c rune) []byte {
	switch e {
	case UTF16BE:
		if c >= 0x10000 {
			c -= 0x10000
			dst = binary.BigEndian.AppendUint16(dst, 0xd800+uint16(c>>10))
			return binary.BigEndian.AppendUint16(dst, 0xdc00+uint16(c&0x3ff))
		}
		return binary.BigEndian.AppendUint16(dst, uint16(c))
	case UTF32BE:
		return binary.BigEndian.AppendUint32(dst, uint32(c))
	}
	return utf8.AppendRune(dst, c)
}
