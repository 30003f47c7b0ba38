package jsoncol

// A splitter finds the ends of records in text that is not lines. It only tracks strings and
// brackets, and leaves it to the parser to check them. It is fed the text from the beginning of a
// record, in growing pieces, and continues where it stopped.
type splitter struct {
	at     int  // position to continue at
	depth  int  // open brackets
	text   bool // inside a string
	escape bool // after a backslash inside a string
	scalar bool // inside a number or literal outside of brackets
	cut    int  // end of the last whole record, or -1
	end    int  // end of the array, or -1
}

// isSpace reports whether c is white space.
func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// records scans b to its end and returns the end of the last whole record, or -1.
func (s *splitter) records(b []byte) int {
	for s.at < len(b) {
		if s.text {
			s.skipText(b)
			if !s.text && s.depth == 0 {
				s.cut = s.at
			}
			continue
		}
		if s.depth > 0 {
			if s.skipInside(b); s.at == len(b) {
				break
			}
		}
		c := b[s.at]
		s.at++
		switch c {
		case '"':
			s.text, s.scalar = true, false
		case '{', '[':
			s.depth++
			s.scalar = false
		case '}', ']':
			s.depth = max(0, s.depth-1)
			if s.depth == 0 {
				s.cut, s.scalar = s.at, false
			}
		default:
			if s.depth > 0 {
				break
			}
			if !isSpace(c) {
				s.scalar = true
				break
			}
			if s.scalar || s.cut >= 0 {
				s.cut, s.scalar = s.at, false
			}
		}
	}
	return s.cut
}

// elements scans b, which is inside an array, and returns the position of the last comma between
// elements, or -1, and the position of the closing bracket, or -1.
func (s *splitter) elements(b []byte) (comma, end int) {
	for s.at < len(b) && s.end < 0 {
		if s.text {
			s.skipText(b)
			continue
		}
		if s.depth > 0 {
			if s.skipInside(b); s.at == len(b) {
				break
			}
		}
		c := b[s.at]
		s.at++
		switch c {
		case '"':
			s.text = true
		case '{', '[':
			s.depth++
		case '}':
			s.depth = max(0, s.depth-1)
		case ']':
			if s.depth == 0 {
				s.end = s.at - 1
			}
			s.depth--
		case ',':
			if s.depth == 0 {
				s.cut = s.at - 1
			}
		}
	}
	return s.cut, s.end
}

// skipInside advances to the next quote or bracket.
func (s *splitter) skipInside(b []byte) {
	i := s.at
	for ; i+8 <= len(b); i += 8 {
		w := wordAt(b, i)
		quotes, folded := w^'"'*ones, w|0x20*ones // maps brackets to braces
		open, shut := folded^'{'*ones, folded^'}'*ones
		m := ((quotes - ones) &^ quotes) | ((open - ones) &^ open) | ((shut - ones) &^ shut)
		if m &= highs; m != 0 {
			s.at = i + trailing(m)
			return
		}
	}
	for i < len(b) && b[i] != '"' && b[i]|0x20 != '{' && b[i]|0x20 != '}' {
		i++
	}
	s.at = i
}

// skipText advances to the end of the string.
func (s *splitter) skipText(b []byte) {
	i := s.at
	if s.escape {
		s.escape = false
		i++
	}
	for i < len(b) {
		if i+8 <= len(b) {
			m := breaks(wordAt(b, i))
			if m == 0 {
				i += 8
				continue
			}
			i += trailing(m)
		}
		switch b[i] {
		case '"':
			s.at, s.text = i+1, false
			return
		case '\\':
			if i+1 == len(b) {
				s.escape = true
				break
			}
			i++
		}
		i++
	}
	s.at = i
}
