package weights

import (
	"strconv"
	"strings"
)

// literals parses the Python literals that NumPy writes into headers: dictionaries with string
// keys, tuples, lists, strings, integers, True, False and None. There are no expressions.
type literals struct {
	text string
	at   int
}

func (p *literals) space() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

// peek returns the next character, and 0 at the end.
func (p *literals) peek() byte {
	if p.space(); p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *literals) wrong() error {
	return invalid("the header is not a literal at character %d: %.20q", p.at, p.text[min(p.at, len(p.text)):])
}

func (p *literals) value(depth int) (any, error) {
	if depth > 8 {
		return nil, invalid("the header is nested too deeply")
	}
	switch c := p.peek(); {
	case c == '{':
		return p.dict(depth)
	case c == '(':
		return p.list(')', depth)
	case c == '[':
		return p.list(']', depth)
	case c == '\'' || c == '"':
		return p.quoted(c)
	case c == '-' || c >= '0' && c <= '9':
		return p.integer()
	}
	for word, x := range map[string]any{"True": true, "False": false, "None": nil} {
		if strings.HasPrefix(p.text[p.at:], word) {
			p.at += len(word)
			return x, nil
		}
	}
	return nil, p.wrong()
}

func (p *literals) dict(depth int) (any, error) {
	out := map[string]any{}
	for p.at++; p.peek() != '}'; {
		key, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		name, ok := key.(string)
		if _, twice := out[name]; !ok || twice || p.peek() != ':' {
			return nil, p.wrong()
		}
		p.at++
		if out[name], err = p.value(depth + 1); err != nil {
			return nil, err
		}
		if err := p.comma('}'); err != nil {
			return nil, err
		}
	}
	p.at++
	return out, nil
}

func (p *literals) list(end byte, depth int) (any, error) {
	out := []any{}
	for p.at++; p.peek() != end; {
		x, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
		if err := p.comma(end); err != nil {
			return nil, err
		}
	}
	p.at++
	return out, nil
}

// comma skips a comma, which is optional before the end.
func (p *literals) comma(end byte) error {
	switch p.peek() {
	case ',':
		p.at++
		return nil
	case end:
		return nil
	}
	return p.wrong()
}

func (p *literals) quoted(quote byte) (any, error) {
	rest := p.text[p.at+1:]
	end := strings.IndexByte(rest, quote)
	if end < 0 || strings.IndexByte(rest[:end], '\\') >= 0 {
		return nil, p.wrong()
	}
	p.at += end + 2
	return rest[:end], nil
}

func (p *literals) integer() (any, error) {
	end := p.at + 1
	for end < len(p.text) && p.text[end] >= '0' && p.text[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(p.text[p.at:end])
	if err != nil {
		return nil, p.wrong()
	}
	if p.at = end; end < len(p.text) && p.text[end] == 'L' { // as Python 2 wrote long integers
		p.at++
	}
	return n, nil
}
