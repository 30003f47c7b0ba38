package serve

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON is parsed to nil, bool, number, string, []any, numbers and *object, strictly by RFC 8259:
// members of an object are unique, texts are UTF-8, surrogates come in pairs.

// A number is a number as it is written, or NaN, Infinity, -Infinity where these are let
// through.
type number string

// An object is an object with its members in order.
type object struct {
	names  []string
	values []any
}

// get returns a member.
func (o *object) get(name string) (any, bool) {
	for i, n := range o.names {
		if n == name {
			return o.values[i], true
		}
	}
	return nil, false
}

// parser reads one text.
type parser struct {
	text   string
	at     int
	depth  int  // that is left
	tokens bool // NaN and the like are numbers
}

// parseJSON reads a whole text of at most so many levels.
func parseJSON(b []byte, depth int, tokens bool) (any, error) {
	if !utf8.Valid(b) {
		return nil, badInput("the body is not UTF-8")
	}
	p := &parser{text: string(b), depth: depth, tokens: tokens}
	x, err := p.value()
	if err != nil {
		return nil, err
	}
	if p.space(); p.at < len(p.text) {
		return nil, p.wrong("text after the end")
	}
	return x, nil
}

func (p *parser) wrong(what string) error {
	return badInput("the body is no JSON at byte %d: %s", p.at, what)
}

func (p *parser) space() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\r', '\n':
			p.at++
		default:
			return
		}
	}
}

func (p *parser) value() (any, error) {
	p.space()
	if p.at >= len(p.text) {
		return nil, p.wrong("it ends early")
	}
	switch c := p.text[p.at]; {
	case c == '{':
		return p.object()
	case c == '[':
		return p.array()
	case c == '"':
		return p.quoted()
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	}
	for _, w := range words {
		if strings.HasPrefix(p.text[p.at:], w.text) && (!w.token || p.tokens) {
			p.at += len(w.text)
			return w.value, nil
		}
	}
	return nil, p.wrong("no value")
}

var words = []struct {
	text  string
	value any
	token bool
}{{"true", true, false}, {"false", false, false}, {"null", nil, false}, {"NaN", number("NaN"), true}, {"Infinity", number("Infinity"), true}}

// enter goes a level down.
func (p *parser) enter() error {
	if p.depth--; p.depth < 0 {
		return p.wrong("it is nested too deep")
	}
	p.at++
	return nil
}

// more reads what separates entries; done says that the last one was read.
func (p *parser) more(end byte, first bool) (done bool, err error) {
	p.space()
	if p.at >= len(p.text) {
		return false, p.wrong("it ends early")
	}
	switch c := p.text[p.at]; {
	case c == end:
		p.at++
		p.depth++
		return true, nil
	case first:
		return false, nil
	case c == ',':
		p.at++
		return false, nil
	}
	return false, p.wrong("no comma")
}

// numbers is a list of numbers only, which is most of what is sent.
type numbers []number

// listOf returns the entries of a list.
func listOf(x any) ([]any, bool) {
	switch x := x.(type) {
	case []any:
		return x, true
	case numbers:
		out := make([]any, len(x))
		for i, n := range x {
			out[i] = n
		}
		return out, true
	}
	return nil, false
}

// array reads a list: numbers, or []any where there are other entries or none.
func (p *parser) array() (any, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	var plain numbers
	out := []any{}
	for {
		done, err := p.more(']', len(out)+len(plain) == 0)
		if err != nil {
			return nil, err
		}
		if done && len(plain) > 0 {
			return plain, nil
		}
		if done {
			return out, nil
		}
		if p.space(); len(out) == 0 && p.at < len(p.text) && (p.text[p.at] == '-' || p.text[p.at] >= '0' && p.text[p.at] <= '9') {
			n, err := p.number()
			if err != nil {
				return nil, err
			}
			if plain == nil {
				plain = make(numbers, 0, p.entries())
			}
			plain = append(plain, n)
			continue
		}
		if len(plain) > 0 {
			out, _ = listOf(plain)
			plain = nil
		}
		x, err := p.value()
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
}

// entries guesses how many numbers there are up to the end of a list.
func (p *parser) entries() int {
	const most = 1 << 12 // of which memory is taken before they are read
	rest := p.text[p.at:min(len(p.text), p.at+16*most)]
	if end := strings.IndexByte(rest, ']'); end >= 0 {
		rest = rest[:end]
	}
	return min(most, 1+strings.Count(rest, ","))
}

func (p *parser) object() (any, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	o := &object{}
	var seen map[string]bool
	for {
		done, err := p.more('}', len(o.names) == 0)
		if done || err != nil {
			return o, err
		}
		if p.space(); p.at >= len(p.text) || p.text[p.at] != '"' {
			return nil, p.wrong("no name of a member")
		}
		name, err := p.quoted()
		if err != nil {
			return nil, err
		}
		if p.space(); p.at >= len(p.text) || p.text[p.at] != ':' {
			return nil, p.wrong("no colon")
		}
		p.at++
		x, err := p.value()
		if err != nil {
			return nil, err
		}
		const few = 8
		twice := seen[name]
		if seen == nil {
			_, twice = o.get(name)
		}
		if twice {
			return nil, badInput("the member %q stands twice", name)
		}
		o.names, o.values = append(o.names, name), append(o.values, x)
		if seen != nil {
			seen[name] = true
		} else if len(o.names) > few {
			seen = map[string]bool{}
			for _, n := range o.names {
				seen[n] = true
			}
		}
	}
}

func (p *parser) number() (number, error) {
	start := p.at
	if p.text[p.at] == '-' {
		p.at++
		if p.tokens && strings.HasPrefix(p.text[p.at:], "Infinity") {
			p.at += len("Infinity")
			return number("-Infinity"), nil
		}
	}
	switch first := p.at; {
	case p.digits() == 0:
		return "", p.wrong("no digit")
	case p.text[first] == '0' && p.at > first+1:
		return "", p.wrong("a number begins with 0")
	}
	if p.at < len(p.text) && p.text[p.at] == '.' {
		p.at++
		if p.digits() == 0 {
			return "", p.wrong("no digit behind the point")
		}
	}
	if p.at < len(p.text) && (p.text[p.at] == 'e' || p.text[p.at] == 'E') {
		p.at++
		if p.at < len(p.text) && (p.text[p.at] == '+' || p.text[p.at] == '-') {
			p.at++
		}
		if p.digits() == 0 {
			return "", p.wrong("no digit in the exponent")
		}
	}
	return number(p.text[start:p.at]), nil
}

func (p *parser) digits() int {
	start := p.at
	for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
		p.at++
	}
	return p.at - start
}

func (p *parser) quoted() (string, error) {
	p.at++
	rest := p.text[p.at:]
	for i := range len(rest) {
		switch c := rest[i]; {
		case c == '"':
			p.at += i + 1
			return rest[:i], nil
		case c == '\\':
			return p.escaped(rest[:i])
		case c < 0x20:
			p.at += i
			return "", p.wrong("a control character in a text")
		}
	}
	return "", p.wrong("a text without end")
}

// escaped reads a text on from its first escape.
func (p *parser) escaped(head string) (string, error) {
	p.at += len(head)
	b := []byte(head)
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			return string(b), nil
		case c < 0x20:
			return "", p.wrong("a control character in a text")
		case c != '\\':
			b = append(b, c)
			p.at++
		default:
			var err error
			if b, err = p.escape(b); err != nil {
				return "", err
			}
		}
	}
	return "", p.wrong("a text without end")
}

func (p *parser) escape(b []byte) ([]byte, error) {
	if p.at+1 >= len(p.text) {
		return nil, p.wrong("a text without end")
	}
	c := p.text[p.at+1]
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
		p.at += 2
		return append(b, "\"\\/\b\f\n\r\t"[i]), nil
	}
	r, ok := p.unit()
	if !ok {
		return nil, p.wrong("an escape that is not known")
	}
	if utf16.IsSurrogate(r) {
		low, ok := p.unit()
		if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
			return nil, p.wrong("half of a surrogate pair")
		}
	}
	return utf8.AppendRune(b, r), nil
}

// unit reads \uXXXX.
func (p *parser) unit() (rune, bool) {
	if len(p.text)-p.at < 6 || p.text[p.at] != '\\' || p.text[p.at+1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(p.text[p.at+2:p.at+6], 16, 16)
	if err != nil {
		return 0, false
	}
	p.at += 6
	return rune(n), true
}
