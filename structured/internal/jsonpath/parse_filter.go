package jsonpath

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// or, and and unary parse conditions: || binds less tightly than &&, and && less
// tightly than !.
func (p *parser) or() Logical {
	defer p.deeper()()
	x := p.and()
	for p.eat("||") {
		x = Or{x, p.and()}
	}
	return x
}

func (p *parser) and() Logical {
	x := p.unary()
	for p.eat("&&") {
		x = And{x, p.unary()}
	}
	return x
}

func (p *parser) unary() Logical {
	p.space()
	if p.peek() == '!' {
		defer p.deeper()()
		p.at++
		p.space()
		start := p.at
		x := p.unary()
		_, bare := x.(Comparison)
		if _, twice := x.(Not); twice || bare && p.text[start] != '(' {
			p.at = start
			p.fail("! must be followed by parentheses, a path or a function")
		}
		return Not{x}
	}
	if p.eat("(") {
		x := p.or()
		p.want(")")
		return x
	}
	if name := p.function("any", "all", "match", "search"); name != "" {
		return p.test(name)
	}
	x := p.operand()
	for _, op := range []string{"==", "!=", "<=", ">=", "<", ">"} {
		if p.eat(op) {
			p.space()
			return Comparison{op, x, p.operand()}
		}
	}
	switch x := x.(type) {
	case Queried:
		if x.Value {
			p.fail("a value is not a condition: compare it")
		}
		return Exists{x.Query}
	case Literal:
		p.fail("a constant is not a condition: compare it")
	}
	p.fail("a number is not a condition: compare it")
	return nil
}

// function parses one of some names followed by a parenthesis. It returns "" if there is none.
func (p *parser) function(names ...string) string {
	for _, name := range names {
		if strings.HasPrefix(p.text[p.at:], name+"(") {
			p.at += len(name) + 1
			return name
		}
	}
	return ""
}

// test parses the arguments of a function that returns a boolean.
func (p *parser) test(name string) Logical {
	if name == "any" || name == "all" {
		x := p.or()
		p.want(")")
		return Quantified{x, name == "all"}
	}
	p.space()
	x := p.operand()
	p.want(",")
	p.space()
	if c := p.peek(); c != '"' && c != '\'' {
		p.fail("got %q, want a regular expression in quotes", p.rest())
	}
	m := Matches{x, p.quoted(), name == "match"}
	p.want(")")
	return m
}

// operand parses a constant, a path, or a function that returns a value.
func (p *parser) operand() Operand {
	switch c := p.peek(); {
	case c == '"' || c == '\'':
		return Literal{p.quoted()}
	case c == '-' || c >= '0' && c <= '9':
		return Literal{p.number()}
	case c == '@':
		return Queried{Query: p.query(false)}
	case c == '$':
		p.fail("a condition applies to each element: a path in it must begin with @")
	}
	if name := p.function("length", "count", "value"); name != "" {
		p.space()
		q := p.query(false)
		p.want(")")
		if name == "value" {
			return Queried{q, true}
		}
		return Measured{q, name == "count"}
	}
	start := p.at
	for c := p.peek(); c >= 'a' && c <= 'z'; c = p.peek() {
		p.at++
	}
	switch p.text[start:p.at] {
	case "true":
		return Literal{true}
	case "false":
		return Literal{false}
	case "null":
		return Literal{nil}
	}
	p.at = start
	if p.at == len(p.text) {
		p.fail("the path ends, want a value")
	}
	p.fail("got %q, want a constant, a path that begins with @, or a function", p.rest())
	return nil
}

// number parses a JSON number, as an int64 if it is an integer that fits.
func (p *parser) number() any {
	start := p.at
	if p.peek() == '-' {
		p.at++
	}
	first := p.at
	ok := p.digits() > 0 && (p.text[first] != '0' || p.at == first+1)
	if ok && p.peek() == '.' {
		p.at++
		ok = p.digits() > 0
	}
	if c := p.peek(); ok && (c == 'e' || c == 'E') {
		p.at++
		if c := p.peek(); c == '+' || c == '-' {
			p.at++
		}
		ok = p.digits() > 0
	}
	text := p.text[start:p.at]
	if ok {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return f
		}
	}
	p.at = start
	p.fail("%q is not a number", text)
	return nil
}

// quoted parses a string in single or double quotes, with the escapes of JSON, escaped quotes, and
// the escapes that Go writes.
func (p *parser) quoted() string {
	quote := p.text[p.at]
	start := p.at
	p.at++
	var b strings.Builder
	for {
		if p.at == len(p.text) {
			p.at = start
			p.fail("the string is not terminated")
		}
		switch c := p.text[p.at]; {
		case c == quote:
			p.at++
			return b.String()
		case c == '\\':
			p.escape(&b, quote)
		default:
			r, n := utf8.DecodeRuneInString(p.text[p.at:])
			if r == utf8.RuneError && n == 1 {
				p.fail("invalid UTF-8")
			}
			if r < ' ' {
				p.fail("a control character in a string: write it as an escape")
			}
			b.WriteString(p.text[p.at : p.at+n])
			p.at += n
		}
	}
}

var escapes = map[byte]byte{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'a': '\a', 'v': '\v', '/': '/', '\\': '\\', '"': '"', '\'': '\''}

// escape parses a backslash and what follows.
func (p *parser) escape(b *strings.Builder, quote byte) {
	start := p.at
	p.at++
	c := p.peek()
	p.at++
	other := c != quote && (c == '"' || c == '\'')
	if x, ok := escapes[c]; ok && !other {
		b.WriteByte(x)
		return
	}
	n := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
	r, ok := p.hex(n)
	if ok && c == 'u' && r >= 0xd800 && r < 0xdc00 && strings.HasPrefix(p.text[min(p.at, len(p.text)):], `\u`) {
		p.at += 2
		low, isHex := p.hex(4)
		ok = isHex && low >= 0xdc00 && low < 0xe000
		r = (r-0xd800)<<10 + (low - 0xdc00) + 0x10000
	}
	if !ok || c == 'x' && r >= utf8.RuneSelf || !utf8.ValidRune(r) {
		p.at = start
		p.fail("%q is not an escape", p.rest())
	}
	b.WriteRune(r)
}

// hex parses n hexadecimal digits.
func (p *parser) hex(n int) (rune, bool) {
	if n == 0 || p.at+n > len(p.text) {
		return 0, false
	}
	v, err := strconv.ParseUint(p.text[p.at:p.at+n], 16, 32)
	if err != nil || v > utf8.MaxRune {
		return 0, false
	}
	p.at += n
	return rune(v), true
}
