package serve

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// JSON is checked as a whole first, strictly by RFC 8259: the members of an object are unique, strings
// are UTF-8, surrogates come in pairs. Values are nil, bool, number, string, *list and *object. A list
// stays text until its entries are used, so that a request takes about as much memory as its text,
// however many small lists and objects it has.

// A number is a number as it is written, or NaN, Infinity, -Infinity if these are allowed.
type number string

// An object is an object with its members in order.
type object struct {
	names  []string
	values []any
}

// maxMembers bounds the number of members of an object, including those of objects in it that
// are not in lists.
const maxMembers = 1 << 20

// get returns a member.
func (o *object) get(name string) (any, bool) {
	for i, n := range o.names {
		if n == name {
			return o.values[i], true
		}
	}
	return nil, false
}

// A parser parses one text.
type parser struct {
	text    string
	at      int
	depth   int      // remaining depth
	tokens  bool     // NaN and the like are numbers
	members int      // of the current object, outside of lists
	names   []string // of the members of the current objects
}

// parseJSON parses a whole text with at most depth levels. The text must not change while its values are in use.
func parseJSON(b []byte, depth int, tokens bool) (any, error) {
	if !utf8.Valid(b) {
		return nil, badInput("the body is not UTF-8")
	}
	p := &parser{text: unsafe.String(unsafe.SliceData(b), len(b)), depth: depth, tokens: tokens}
	if err := p.check(); err != nil {
		return nil, err
	}
	if p.space(); p.at < len(p.text) {
		return nil, p.wrong("text after the end")
	}
	p.at, p.tokens = 0, true
	return p.value(), nil
}

func (p *parser) wrong(what string) error {
	return badInput("the body is not valid JSON at byte %d: %s", p.at, what)
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

// digit reports whether a number begins here.
func (p *parser) digit() bool {
	return p.at < len(p.text) && (p.text[p.at] == '-' || p.text[p.at] >= '0' && p.text[p.at] <= '9')
}

// read parses a value: to check it or, if it has been checked, to return it.
func (p *parser) read(checked bool) (any, error) {
	p.space()
	if p.at >= len(p.text) {
		return nil, p.wrong("it ends too early")
	}
	switch c := p.text[p.at]; {
	case c == '{' && checked:
		return p.object(), nil
	case c == '{':
		return nil, p.checkObject()
	case c == '[' && checked:
		return p.list(), nil
	case c == '[':
		return nil, p.checkList()
	case c == '"':
		text, err := p.quoted()
		if !checked {
			return nil, err // no memory for values that are not used
		}
		return text, err
	case p.digit():
		n, err := p.number()
		if !checked {
			return nil, err
		}
		return n, err
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

// check checks a value.
func (p *parser) check() error {
	_, err := p.read(false)
	return err
}

// value returns a value that has been checked.
func (p *parser) value() any {
	x, _ := p.read(true)
	return x
}

// list returns a list that has been checked.
func (p *parser) list() *list {
	p.at++
	l := &list{n: 1}
	if text, ok := p.flat(); ok {
		l.text = text
		l.n += strings.Count(text, ",")
	} else {
		from := p.at
		for depth := 1; depth > 0; {
			c := p.text[p.at]
			p.at++
			switch c {
			case '[':
				if _, ok := p.flat(); !ok {
					depth++
				}
			case '{':
				depth++
			case ']', '}':
				depth--
			case ',':
				if depth == 1 {
					l.n++
				}
			case '"':
				p.behindText()
			}
		}
		l.text = p.text[from : p.at-1]
	}
	if strings.Trim(l.text, " \t\r\n") == "" {
		l.n = 0
	}
	return l
}

// flat skips a list whose opening bracket has been read, and returns its text, if it contains neither strings nor lists
// nor objects. It compares as many bytes at once as the processor can.
func (p *parser) flat() (text string, ok bool) {
	text, _, _ = strings.Cut(p.text[p.at:], "]")
	if strings.IndexByte(text, '"') >= 0 || strings.IndexByte(text, '[') >= 0 || strings.IndexByte(text, '{') >= 0 {
		return "", false
	}
	p.at += len(text) + 1
	return text, true
}

// behindText skips the rest of a string, with its closing quote.
func (p *parser) behindText() {
	for ; p.text[p.at] != '"'; p.at++ {
		if p.text[p.at] == '\\' {
			p.at++
		}
	}
	p.at++
}

// object returns an object that has been checked.
func (p *parser) object() *object {
	p.at++
	o := &object{}
	for {
		if p.space(); p.text[p.at] == ',' {
			p.at++
			p.space()
		}
		if p.text[p.at] == '}' {
			p.at++
			return o
		}
		name, _ := p.quoted()
		p.space()
		p.at++
		o.names, o.values = append(o.names, name), append(o.values, p.value())
	}
}

// enter goes a level down.
func (p *parser) enter() error {
	if p.depth--; p.depth < 0 {
		return p.wrong("it is nested too deeply")
	}
	p.at++
	return nil
}

// more reads the separator between entries; done means that there are no more.
func (p *parser) more(end byte, first bool) (done bool, err error) {
	p.space()
	if p.at >= len(p.text) {
		return false, p.wrong("it ends too early")
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

// checkList checks a list.
func (p *parser) checkList() error {
	if err := p.enter(); err != nil {
		return err
	}
	members := p.members
	for first := true; ; first = false {
		done, err := p.more(']', first)
		if done || err != nil {
			p.members = members // lists are parsed entry by entry
			return err
		}
		p.members = 0
		p.space()
		if from := p.at; p.digit() {
			p.numbers()
			if p.at == from {
				_, err = p.number() // infinite, or an error
			}
		} else {
			err = p.check()
		}
		if err != nil {
			return err
		}
	}
}

// checkObject checks an object.
func (p *parser) checkObject() error {
	if err := p.enter(); err != nil {
		return err
	}
	start := len(p.names)
	var seen map[string]bool
	for {
		done, err := p.more('}', len(p.names) == start)
		if done || err != nil {
			p.names = p.names[:start]
			return err
		}
		if p.space(); p.at >= len(p.text) || p.text[p.at] != '"' {
			return p.wrong("the name of a member is missing")
		}
		name, err := p.quoted()
		if err != nil {
			return err
		}
		if p.space(); p.at >= len(p.text) || p.text[p.at] != ':' {
			return p.wrong("no colon")
		}
		p.at++
		if p.members++; p.members > maxMembers || len(p.names) >= maxMembers {
			return badInput("an object has more than %d members", maxMembers)
		}
		const few = 8
		own := p.names[start:]
		twice := seen[name]
		if seen == nil {
			twice = slices.Contains(own, name)
		}
		if twice {
			return badInput("the member %s occurs twice", shortened(name))
		}
		p.names = append(p.names, name)
		if seen != nil {
			seen[name] = true
		} else if len(own) >= few {
			seen = map[string]bool{}
			for _, n := range p.names[start:] {
				seen[n] = true
			}
		}
		if err := p.check(); err != nil {
			return err
		}
	}
}

func (p *parser) number() (number, error) {
	start := p.at
	if end := numberEnd(p.text, start); end > 0 {
		p.at = end
		return number(p.text[start:end]), nil
	}
	if p.tokens && strings.HasPrefix(p.text[start:], "-Infinity") {
		p.at += len("-Infinity")
		return number("-Infinity"), nil
	}
	if p.text[start] == '-' {
		p.at++
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
			return "", p.wrong("no digit follows the point")
		}
	}
	p.at++
	if p.at < len(p.text) && (p.text[p.at] == '+' || p.text[p.at] == '-') {
		p.at++
	}
	return "", p.wrong("no digit in the exponent")
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
			return "", p.wrong("a string contains a control character")
		}
	}
	return "", p.wrong("a string does not end")
}

// escaped parses the rest of a string from its first escape sequence on.
func (p *parser) escaped(head string) (string, error) {
	p.at += len(head)
	b := []byte(head)
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			return string(b), nil
		case c < 0x20:
			return "", p.wrong("a string contains a control character")
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
	return "", p.wrong("a string does not end")
}

func (p *parser) escape(b []byte) ([]byte, error) {
	if p.at+1 >= len(p.text) {
		return nil, p.wrong("a string does not end")
	}
	c := p.text[p.at+1]
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
		p.at += 2
		return append(b, "\"\\/\b\f\n\r\t"[i]), nil
	}
	r, ok := p.unit()
	if !ok {
		return nil, p.wrong("an escape sequence is unknown")
	}
	if utf16.IsSurrogate(r) {
		low, ok := p.unit()
		if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
			return nil, p.wrong("a surrogate pair is incomplete")
		}
	}
	return utf8.AppendRune(b, r), nil
}

// unit parses \uXXXX.
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
