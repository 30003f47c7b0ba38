package str

import (
	"encoding/binary"
	"fmt"
	"unicode/utf8"

	"github.com/tenonml/tenon/internal/par"
)

// A Policy says what becomes of what is malformed.
type Policy uint8

// The policies.
const (
	Replace Policy = iota // put the replacement character there
	Ignore                // leave it out
	Strict                // fail
)

// ParsePolicy returns the policy called "replace", "ignore" or "strict".
func ParsePolicy(name string) (Policy, error) {
	switch name {
	case "replace":
		return Replace, nil
	case "ignore":
		return Ignore, nil
	case "strict":
		return Strict, nil
	}
	return 0, fmt.Errorf("errors are handled by replace, ignore or strict, not by %q", name)
}

// UnicodeOptions say how malformed input is treated. The zero value replaces it by
// U+FFFD.
type UnicodeOptions struct {
	Errors Policy
	// Replacement stands for malformed input; 0 means U+FFFD.
	Replacement rune
	// ReplaceControl treats the characters U+0000 to U+001F as Errors says, except
	// that Strict replaces them.
	ReplaceControl bool
}

func (o UnicodeOptions) replacement() rune {
	if o.Replacement == 0 {
		return utf8.RuneError
	}
	return o.Replacement
}

// treat returns the character to use, and whether to use one at all.
func (o UnicodeOptions) treat(c rune, ok bool) (rune, bool) {
	if ok && !(o.ReplaceControl && c <= 0x1f) {
		return c, true
	}
	return o.replacement(), o.Errors != Ignore
}

// each calls f for every character of s with the position of its first byte.
func (o UnicodeOptions) each(s []byte, e Encoding, f func(c rune, at int)) error {
	for at := 0; at < len(s); {
		c, size, ok := e.decode(s[at:])
		if !ok && o.Errors == Strict {
			return fmt.Errorf("malformed %v at byte %d", e, at)
		}
		if c, use := o.treat(c, ok); use {
			f(c, at)
		}
		at += size
	}
	return nil
}

// count returns the number of characters that each gives f.
func (o UnicodeOptions) count(s []byte, e Encoding) (n int, err error) {
	if o.isPlain(s, e) {
		return len(s), nil
	}
	err = o.each(s, e, func(rune, int) { n++ })
	return n, err
}

// isPlain reports whether every byte of s is a character and stays as it is.
func (o UnicodeOptions) isPlain(s []byte, e Encoding) bool {
	return !o.ReplaceControl && (e == UTF8 || e == ASCII || e == Latin1) && isASCII(s)
}

// isASCII reports whether all bytes are ASCII.
func isASCII(s []byte) bool {
	for ; len(s) >= 8; s = s[8:] {
		if binary.LittleEndian.Uint64(s)&0x8080808080808080 != 0 {
			return false
		}
	}
	for _, b := range s {
		if b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Decode returns the code points of each string, their row splits, and the position
// of the first byte of each within its string.
func Decode(x Column, from Encoding, o UnicodeOptions) (splits []int64, codes []int32, at []int64, err error) {
	n := x.Len()
	splits = make([]int64, n+1)
	failed := make([]error, (n+chunk-1)/chunk)
	par.For(n, chunk, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			count, err := o.count(x.At(i), from)
			if err != nil {
				failed[lo/chunk] = &Error{Index: i, Detail: err.Error()}
				return
			}
			splits[i+1] = int64(count)
		}
	})
	for _, err := range failed {
		if err != nil {
			return nil, nil, nil, err
		}
	}
	for i := range n {
		splits[i+1] += splits[i]
	}
	total := splits[n]
	codes = make([]int32, total, total+slack/4)
	at = make([]int64, total, total+slack/8)
	par.For(n, chunk, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			s, k := x.At(i), splits[i]
			if o.isPlain(s, from) {
				for p, b := range s {
					codes[k+int64(p)], at[k+int64(p)] = int32(b), int64(p)
				}
				continue
			}
			_ = o.each(s, from, func(c rune, p int) { // fails on nothing that was counted
				codes[k], at[k] = c, int64(p)
				k++
			})
		}
	})
	return splits, codes, at, nil
}

// Encode returns one string for each row of code points. What is no code point, or
// a surrogate, is treated as malformed.
func Encode(codes []int32, splits []int64, to Encoding, o UnicodeOptions) (Column, error) {
	m, err := build(max(len(splits)-1, 0), func(b *builder, r int) error {
		for i, c := range codes[splits[r]:splits[r+1]] {
			if !isScalar(int64(c)) {
				switch o.Errors {
				case Ignore:
					continue
				case Strict:
					return &Error{Index: r, Detail: fmt.Sprintf("value %d, %d, is no code point or a surrogate", i, c)}
				}
				c = o.replacement()
			}
			b.bytes = to.append(b.bytes, c)
		}
		b.end()
		return nil
	})
	return m.column, err
}

// Transcode returns each string in another encoding.
func Transcode(x Column, from, to Encoding, o UnicodeOptions) (Column, error) {
	m, err := build(x.Len(), func(b *builder, i int) error {
		err := o.each(x.At(i), from, func(c rune, _ int) { b.bytes = to.append(b.bytes, c) })
		if err != nil {
			return &Error{Index: i, Detail: err.Error()}
		}
		b.end()
		return nil
	})
	return m.column, err
}

// SplitChars cuts each string into its characters. It returns them, their row
// splits, and the position of the first byte of each within its string. Characters
// stay in their encoding where strings are written in it, and become UTF-8 otherwise.
func SplitChars(x Column, from Encoding, o UnicodeOptions) (splits []int64, chars Column, at []int64, err error) {
	splits, codes, at, err := Decode(x, from, o)
	if err != nil {
		return nil, Column{}, nil, err
	}
	to := from
	if to > UTF32BE {
		to = UTF8
	}
	b := builder{offsets: make([]int64, 0, len(codes)), bytes: make([]byte, 0, x.Size()+slack)}
	for _, c := range codes {
		b.bytes = to.append(b.bytes, c)
		b.end()
	}
	return splits, b.column(), at, nil
}
