package csvio

import (
	"bytes"
	"io"
	"unicode/utf8"
)

// A field is the text of a field without its quotes.
type field struct {
	text   []byte
	quoted bool
}

// A scanner divides text into records. It holds one record and a piece of the text.
type scanner struct {
	from    io.Reader
	name    string
	delim   byte
	quote   byte // 0: none
	comment byte // 0: none
	lenient bool

	buf    []byte // text that has been read
	at     int    // where the next record begins in it
	line   int64  // the line of it
	ended  bool   // there is no more text
	fields []field
	undone []byte // fields whose doubled quotes have been undone
}

func (s *scanner) fault(what What, line int64, detail string) *Error {
	return &Error{What: what, Source: s.name, Line: line, Detail: detail}
}

// fill reads more text behind buf, and drops what has been used.
func (s *scanner) fill() error {
	if s.at > 0 {
		s.buf = s.buf[:copy(s.buf, s.buf[s.at:])]
		s.at = 0
	}
	want := max(64<<10, len(s.buf))
	if s.buf == nil {
		want = 4 << 10 // all that there is, of a small table
	}
	if cap(s.buf)-len(s.buf) < want {
		s.buf = append(make([]byte, 0, len(s.buf)+want), s.buf...)
	}
	for idle := 0; idle < 100; idle++ {
		n, err := s.from.Read(s.buf[len(s.buf):cap(s.buf)])
		s.buf = s.buf[:len(s.buf)+n]
		if err == io.EOF {
			s.ended = true
			return nil
		}
		if n > 0 || err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// next returns the next record and the line that it begins in, and io.EOF behind the last
// one. Its fields are valid until the next call. A fault of the record is returned with it.
func (s *scanner) next() (fields []field, line int64, fault *Error, err error) {
	for {
		if s.at == len(s.buf) && !s.ended {
			if err := s.fill(); err != nil {
				return nil, 0, nil, err
			}
			continue
		}
		if s.at == len(s.buf) {
			return nil, 0, nil, io.EOF
		}
		end, isRecord, fault, whole := s.record(s.buf[s.at:])
		if !whole && !s.ended {
			if err := s.fill(); err != nil {
				return nil, 0, nil, err
			}
			continue
		}
		raw := s.buf[s.at : s.at+end]
		line := s.line
		if !utf8.Valid(raw) {
			good := 0
			for good < len(raw) {
				r, n := utf8.DecodeRune(raw[good:])
				if r == utf8.RuneError && n == 1 {
					break
				}
				good += n
			}
			return nil, 0, nil, s.fault(BadText, line+int64(bytes.Count(raw[:good], []byte{'\n'})), "the text is not UTF-8")
		}
		s.at += end
		s.line += int64(bytes.Count(raw, []byte{'\n'}))
		if fault != nil && (fault.What == Unterminated || !s.lenient) {
			return nil, line, fault, fault
		}
		if isRecord {
			return s.fields, line, fault, nil
		}
	}
}

// record divides the record at the start of b. It returns where it ends, and false if
// there may be more of it than there is in b.
func (s *scanner) record(b []byte) (end int, isRecord bool, fault *Error, whole bool) {
	s.fields, s.undone = s.fields[:0], s.undone[:0]
	switch {
	case b[0] == '\n':
		return 1, false, nil, true
	case b[0] == '\r' && len(b) > 1 && b[1] == '\n':
		return 2, false, nil, true
	case b[0] == '\r' && len(b) == 1:
		return 1, true, s.plain(b), false // data, if that is all
	case s.comment != 0 && b[0] == s.comment:
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			return i + 1, false, nil, true
		}
		return len(b), false, nil, false
	}
	for i := 0; ; {
		var f field
		if s.quote != 0 && i < len(b) && b[i] == s.quote {
			var ok bool
			start := i
			if f, i, ok = s.quoted(b, i+1); !ok {
				line := s.line + int64(bytes.Count(b[:start], []byte{'\n'}))
				return len(b), true, s.fault(Unterminated, line, "a quote does not end"), false
			}
			if i < len(b) && b[i] != s.delim && b[i] != '\n' && !(b[i] == '\r' && i+1 < len(b) && b[i+1] == '\n') {
				if b[i] == '\r' && i+1 == len(b) && !s.ended {
					return len(b), true, nil, false
				}
				if fault == nil {
					fault = s.fault(Quoting, s.line+int64(bytes.Count(b[:i], []byte{'\n'})), "there is text behind a closing quote")
				}
				for i < len(b) && b[i] != s.delim && b[i] != '\n' {
					i++
				}
			}
		} else {
			start := i
			for i < len(b) && b[i] != s.delim && b[i] != '\n' {
				i++
			}
			f.text = b[start:i]
			if i < len(b) && b[i] == '\n' && i > start && b[i-1] == '\r' {
				f.text = b[start : i-1]
			}
		}
		s.fields = append(s.fields, f)
		switch {
		case i >= len(b):
			return len(b), true, fault, false
		case b[i] == s.delim:
			i++
			continue
		case b[i] == '\r':
			i++
		}
		return i + 1, true, fault, true
	}
}

// plain makes a record of one field.
func (s *scanner) plain(b []byte) *Error {
	s.fields = append(s.fields, field{text: b})
	return nil
}

// quoted returns the field whose opening quote is before i, and where it ends.
func (s *scanner) quoted(b []byte, i int) (f field, end int, ok bool) {
	f.quoted = true
	start, from := i, len(s.undone)
	doubled := false
	for {
		k := bytes.IndexByte(b[i:], s.quote)
		if k < 0 {
			return f, len(b), false
		}
		i += k
		if i+1 == len(b) && !s.ended {
			return f, len(b), false // it may be doubled
		}
		if i+1 < len(b) && b[i+1] == s.quote {
			s.undone = append(s.undone, b[start:i+1]...)
			doubled = true
			i += 2
			start = i
			continue
		}
		f.text = b[start:i]
		if doubled {
			s.undone = append(s.undone, b[start:i]...)
			f.text = s.undone[from:len(s.undone):len(s.undone)]
		}
		return f, i + 1, true
	}
}
