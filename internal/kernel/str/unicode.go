package str

import (
	"encoding/binary"
	"fmt"
	"unicode/utf8"

	"github.com/tenonml/tenon/internal/par"
)

// A Policy says how malformed input is handled.
type Policy uint8

// The policies.
const (
	Replace Policy = iota // substitute the replacement character
	Ignore                // drop it
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
	return 0, fmt.Errorf("unknown error policy %q; use replace, ignore or strict", name)
}

// UnicodeOptions control how malformed input is handled. The zero value replaces it by U+FFFD.
type UnicodeOptions struct {
	Errors Policy
	// Replacement is the replacement character; 0 means U+FFFD.
	Replacement rune
	// ReplaceControl applies the policy of Errors to the characters U+0000 to U+001F, except that
	// Strict replaces them.
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

// count returns the number of characters for which each calls f.
func (o UnicodeOptions) count(s []byte, e Encoding) (n int, err error) {
	if o.isPlain(s, e) {
		return len(s), nil
	}
	err = o.each(s, e, func(rune, int) { n++ })
	return n, err
}

// isPlain reports whether every byte of s is a character that the options leave unchanged.
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

// CharSplits writes the row splits of the characters of each string, for use by [Decode]. splits
// has one entry more than there are strings.
func CharSplits(splits []int64, x Column, from Encoding, o UnicodeOptions) error {
	splits[0] = 0
	n := x.Len()
	if n <= chunk {
		if err := countChunk(splits, x, from, o, 0, n); err != nil {
			return err
		}
	} else {
		failed := make([]error, (n+chunk-1)/chunk)
		par.For(n, chunk, func(lo, hi int) { failed[lo/chunk] = countChunk(splits, x, from, o, lo, hi) })
		for _, err := range failed {
			if err != nil {
				return err
			}
		}
	}
	for i := range n {
		splits[i+1] += splits[i]
	}
	return nil
}

// countChunk writes the number of characters of each string i in [lo, hi) to splits[i+1].
func countChunk(splits []int64, x Column, from Encoding, o UnicodeOptions, lo, hi int) error {
	for i := lo; i < hi; i++ {
		count, err := o.count(x.At(i), from)
		if err != nil {
			return &Error{Index: i, Detail: err.Error()}
		}
		splits[i+1] = int64(count)
	}
	return nil
}

// Decode writes the code points of each string, whose row splits come from [CharSplits], and the
// position of the first byte of each within its string.
func Decode(codes []int32, at, splits []int64, x Column, from Encoding, o UnicodeOptions) {
	if n := x.Len(); n <= chunk {
		decodeChunk(codes, at, splits, x, from, o, 0, n)
	} else {
		par.For(n, chunk, func(lo, hi int) { decodeChunk(codes, at, splits, x, from, o, lo, hi) })
	}
}

func decodeChunk(codes []int32, at, splits []int64, x Column, from Encoding, o UnicodeOptions, lo, hi int) {
	for i := lo; i < hi; i++ {
		s, k := x.At(i), splits[i]
		if o.isPlain(s, from) {
			for p, b := range s {
				codes[k+int64(p)], at[k+int64(p)] = int32(b), int64(p)
			}
			continue
		}
		_ = o.each(s, from, func(c rune, p int) { // cannot fail: CharSplits has decoded the strings already
			codes[k], at[k] = c, int64(p)
			k++
		})
	}
}

// Encode returns one string for each row of code points. A value that is not a Unicode scalar value
// is treated as malformed.
func Encode(codes []int32, splits []int64, to Encoding, o UnicodeOptions) (Column, error) {
	return build(max(len(splits)-1, 0), nil, encoding{codes, splits, to, o}, func(b *builder, r int, with encoding) error {
		for i, c := range with.codes[with.splits[r]:with.splits[r+1]] {
			if !isScalar(int64(c)) {
				switch with.o.Errors {
				case Ignore:
					continue
				case Strict:
					return &Error{Index: r, Detail: fmt.Sprintf("value %d (%d) is not a code point or is a surrogate", i, c)}
				}
				c = with.o.replacement()
			}
			b.bytes = with.to.append(b.bytes, c)
		}
		b.end()
		return nil
	})
}

// encoding is the arguments of a chunk of [Encode].
type encoding struct {
	codes  []int32
	splits []int64
	to     Encoding
	o      UnicodeOptions
}

// Transcode returns each string in another encoding.
func Transcode(x Column, from, to Encoding, o UnicodeOptions) (Column, error) {
	return build(x.Len(), nil, transcoding{x, from, to, o}, func(b *builder, i int, with transcoding) error {
		bytes := b.bytes
		err := with.o.each(with.x.At(i), with.from, func(c rune, _ int) { bytes = with.to.append(bytes, c) })
		if err != nil {
			return &Error{Index: i, Detail: err.Error()}
		}
		b.bytes = bytes
		b.end()
		return nil
	})
}

// transcoding is the arguments of a chunk of [Transcode].
type transcoding struct {
	x        Column
	from, to Encoding
	o        UnicodeOptions
}

// Chars returns each of the code points from [Decode] as a string: in the original encoding if
// strings can be encoded in it, and otherwise in UTF-8.
func Chars(codes []int32, from Encoding) Column {
	to := from
	if to > UTF32BE {
		to = UTF8
	}
	return mapped(len(codes), single{codes, to}, func(dst []byte, i int, with single) []byte {
		return with.to.append(dst, with.codes[i])
	})
}

// single is the arguments of a chunk of [Chars].
type single struct {
	codes []int32
	to    Encoding
}
