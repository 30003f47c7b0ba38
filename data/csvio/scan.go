package csvio

import (
	"bytes"
	"io"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// A span is the position of a field's text, without its quotes.
type span struct {
	at  int
	end int // the lowest bits hold the kind of the field
}

// The kinds of fields.
const (
	isQuoted = 1 << iota
	isUndone // its doubled quotes have been undone, so that it is in undone
	kindBits = 2
)

// A block is a sequence of records of a text.
type block struct {
	text    []byte
	undone  []byte // fields whose doubled quotes have been undone
	spans   []span // spans of the fields, record by record
	lines   []int64
	skipped []*Error // records skipped by lenient reading
	buf     []byte   // buffer that contains text if the scanner reads from a reader
}

func (b *block) reset() {
	b.text, b.undone, b.spans, b.lines, b.skipped = nil, b.undone[:0], b.spans[:0], b.lines[:0], nil
}

// field returns a field and whether it is quoted.
func (b *block) field(k int) ([]byte, bool) {
	s := b.spans[k]
	if s.end&isUndone != 0 {
		return b.undone[s.at : s.end>>kindBits], true
	}
	return b.text[s.at : s.end>>kindBits], s.end&isQuoted != 0
}

// A scanner divides text into records.
type scanner struct {
	from    io.Reader // nil if data is the whole text
	name    string
	delim   byte
	quote   byte // 0 means none
	comment byte // 0 means none
	lenient bool

	data  []byte // text that has been read but not divided yet
	ended bool   // there is no more text
	line  int64  // line at which data begins
}

// blockSize is the number of bytes of text that are divided at a time.
const blockSize = 256 << 10

func (s *scanner) fault(what What, line int64, detail string) *Error {
	return &Error{What: what, Source: s.name, Line: line, Detail: detail}
}

// next reads a block of records with cols fields, or only the first record, whatever its number of fields, if cols is
// negative. An error refers to the text after the records of the block; it is io.EOF if there is no more text.
func (s *scanner) next(b *block, cols, rows int) error {
	b.reset()
	size := blockSize
	if s.from != nil { // the rest of the preceding block is in its memory
		b.buf = append(b.buf[:0], s.data...)
		s.data = b.buf
	}
	for {
		text, ended := s.data, s.ended
		if s.from == nil && len(text) > size {
			text, ended = text[:size], false
		}
		used, err := s.split(b, text, ended, cols, rows)
		s.data = s.data[used:]
		if b.text = text; used > 0 || err != nil || ended {
			if err == nil && len(b.lines) == 0 && len(b.skipped) == 0 && len(s.data) == 0 && s.ended {
				err = io.EOF
			}
			return err
		}
		if s.from == nil {
			size *= 2
			continue
		}
		if err := s.fill(b); err != nil {
			return err
		}
	}
}

// fill reads more text, at least up to the next line end, because records can end only there.
func (s *scanner) fill(b *block) error {
	for idle := 0; idle < 100; idle++ {
		n := len(b.buf)
		want := max(blockSize, n)
		if n == 0 && b.text == nil {
			want = 4 << 10 // usually all of a small table
		}
		if cap(b.buf)-n < want {
			b.buf = append(make([]byte, 0, n+want), b.buf...)
		}
		k, err := s.from.Read(b.buf[n:cap(b.buf)])
		b.buf = b.buf[:n+k]
		s.data = b.buf
		if err == io.EOF {
			s.ended = true
			return nil
		}
		if err != nil || bytes.IndexByte(b.buf[n:], '\n') >= 0 {
			return err
		}
		if k > 0 {
			idle = -1
		}
	}
	return io.ErrNoProgress
}

// split divides the complete records of a text, and returns how much of the text they take.
func (s *scanner) split(b *block, text []byte, ended bool, cols, rows int) (used int, err error) {
	bad := badText(text)
	c := cursor{text: text, base: -64, delim: uint64(s.delim) * ones}
	for used < len(text) && len(b.lines) < rows {
		end, isRecord, breaks, fault, whole := s.record(b, &c, used)
		if !whole && !ended {
			b.spans = b.spans[:s.kept(b, cols)]
			break
		}
		if end > bad {
			return used, s.fault(BadText, s.line+int64(bytes.Count(text[used:bad], []byte{'\n'})), "the text is not UTF-8")
		}
		line := s.line
		used = end
		s.line += breaks
		if !isRecord {
			continue
		}
		if fault != nil && (fault.What == Unterminated || !s.lenient || cols < 0) {
			return used, fault
		}
		if cols < 0 {
			b.lines = append(b.lines, line)
			break
		}
		if have := len(b.spans) - s.kept(b, cols); fault == nil && have != cols {
			fault = s.wrong(line, have, cols)
			if fault.Field = min(have, cols) + 1; !s.lenient {
				return used, fault
			}
		}
		if fault != nil {
			b.skipped = append(b.skipped, fault)
			b.spans = b.spans[:s.kept(b, cols)]
			continue
		}
		b.lines = append(b.lines, line)
	}
	return used, nil
}

// wrong is the fault of a record with a wrong number of fields.
func (s *scanner) wrong(line int64, have, want int) *Error {
	return s.fault(Fields, line, "there are "+strconv.Itoa(have)+" fields, want "+strconv.Itoa(want))
}

// kept returns the number of fields in the complete records of a block.
func (s *scanner) kept(b *block, cols int) int { return len(b.lines) * max(cols, 0) }

// record divides the record at i. It returns its end, its number of line breaks, and false if the record may extend
// beyond the text.
func (s *scanner) record(b *block, c *cursor, i int) (end int, isRecord bool, breaks int64, fault *Error, whole bool) {
	text, before := c.text, len(b.spans)
	at := func(what What, detail string) *Error {
		e := s.fault(what, s.line+breaks, detail)
		e.Field = len(b.spans) - before + 1
		return e
	}
	switch {
	case text[i] == '\n':
		return i + 1, false, 1, nil, true
	case text[i] == '\r' && i+1 < len(text) && text[i+1] == '\n':
		return i + 2, false, 1, nil, true
	case text[i] == '\r' && i+1 == len(text): // data, if that is all
		b.spans = append(b.spans, span{i, (i + 1) << kindBits})
		return i + 1, true, 0, nil, false
	case s.comment != 0 && text[i] == s.comment:
		if k := bytes.IndexByte(text[i:], '\n'); k >= 0 {
			return i + k + 1, false, 1, nil, true
		}
		return len(text), false, 0, nil, false
	}
	for {
		if s.quote != 0 && i < len(text) && text[i] == s.quote {
			start := i
			f, ok := span{}, false
			if f, i, ok = s.quoted(b, text, i+1); !ok {
				return len(text), true, breaks, at(Unterminated, "a quote is not terminated"), false
			}
			breaks += int64(bytes.Count(text[start:i], []byte{'\n'}))
			if i < len(text) && text[i] != s.delim && text[i] != '\n' && !(text[i] == '\r' && i+1 < len(text) && text[i+1] == '\n') {
				if text[i] == '\r' && i+1 == len(text) {
					if fault == nil {
						fault = at(Quoting, "there is text after a closing quote")
					}
					return len(text), true, breaks, fault, false
				}
				if fault == nil {
					fault = at(Quoting, "there is text after a closing quote")
				}
				i = c.next(i)
			}
			b.spans = append(b.spans, f)
		} else {
			start := i
			i = c.next(i)
			end := i
			if i < len(text) && text[i] == '\n' && i > start && text[i-1] == '\r' {
				end--
			}
			b.spans = append(b.spans, span{start, end << kindBits})
		}
		switch {
		case i >= len(text):
			return len(text), true, breaks, fault, false
		case text[i] == s.delim:
			i++
			continue
		case text[i] == '\r':
			i++
		}
		return i + 1, true, breaks + 1, fault, true
	}
}

// quoted returns the field whose opening quote is before i, and its end.
func (s *scanner) quoted(b *block, text []byte, i int) (f span, end int, ok bool) {
	start, from := i, len(b.undone)
	doubled := false
	for {
		k := bytes.IndexByte(text[i:], s.quote)
		if k < 0 {
			return f, len(text), false
		}
		i += k
		if i+1 < len(text) && text[i+1] == s.quote {
			b.undone = append(b.undone, text[start:i+1]...)
			doubled = true
			i += 2
			start = i
			continue
		}
		if doubled {
			b.undone = append(b.undone, text[start:i]...)
			return span{from, len(b.undone)<<kindBits | isUndone | isQuoted}, i + 1, true
		}
		return span{start, i<<kindBits | isQuoted}, i + 1, true
	}
}

// A cursor finds delimiters and line ends, in 64 bytes of text at a time.
type cursor struct {
	text  []byte
	delim uint64 // the delimiter in each byte
	base  int    // position of the bytes that found refers to
	found uint64
}

const (
	ones = 0x0101010101010101
	lows = 0x7f7f7f7f7f7f7f7f
)

// next returns the position of the next delimiter or line end from i on, or the end of the text.
func (c *cursor) next(i int) int {
	if i >= c.base+64 {
		c.look(i &^ 63)
	}
	found := c.found &^ (1<<(i-c.base) - 1)
	for found == 0 {
		if c.base+64 >= len(c.text) {
			return len(c.text)
		}
		c.look(c.base + 64)
		found = c.found
	}
	return c.base + bits.TrailingZeros64(found)
}

// look finds the delimiters and line ends in 64 bytes.
func (c *cursor) look(base int) {
	c.base, c.found = base, 0
	if base >= len(c.text) {
		return
	}
	var short [64]byte
	b, there := c.text[base:], ^uint64(0)
	if len(b) < 64 {
		there = 1<<copy(short[:], b) - 1
		b = short[:]
	}
	b = b[:64]
	for k := 0; k < 64; k += 8 {
		x := uint64(b[k]) | uint64(b[k+1])<<8 | uint64(b[k+2])<<16 | uint64(b[k+3])<<24 | uint64(b[k+4])<<32 | uint64(b[k+5])<<40 | uint64(b[k+6])<<48 | uint64(b[k+7])<<56
		d, n := x^c.delim, x^'\n'*ones
		m := ^((d&lows + lows) | d | lows) | ^((n&lows + lows) | n | lows)
		c.found |= m >> 7 * 0x0102040810204080 >> 56 << k
	}
	c.found &= there
}

// badText returns the position at which a text is not UTF-8, or its length plus one if there is
// none.
func badText(b []byte) int {
	for i := 0; i < len(b); {
		if i+8 <= len(b) {
			x := uint64(b[i]) | uint64(b[i+1])<<8 | uint64(b[i+2])<<16 | uint64(b[i+3])<<24 | uint64(b[i+4])<<32 | uint64(b[i+5])<<40 | uint64(b[i+6])<<48 | uint64(b[i+7])<<56
			if x&^uint64(lows) == 0 {
				i += 8
				continue
			}
		}
		if b[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(b) + 1
}
