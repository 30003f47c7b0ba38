package jsonpath

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/source"
)

const fn = "structured.Path"

// maxDepth limits the nesting of parentheses and filters.
const maxDepth = 100

// Error returns an error about a path expression.
func Error(text, format string, args ...any) *tenon.Error {
	return &tenon.Error{Kind: tenon.ErrInvalid, Op: fn, Where: strconv.Quote(text), Msg: fmt.Sprintf(format, args...), Line: source.Line()}
}

// A parser reads path expressions by recursive descent. Its methods throw.
type parser struct {
	text  string
	at    int
	depth int
}

// Parse reads a path expression.
func Parse(text string) (q Query, err error) {
	defer tenon.Catch(&err)
	p := &parser{text: text}
	p.space()
	q = p.query(true)
	p.end()
	return q, nil
}

// ParseCondition reads a condition.
func ParseCondition(text string) (c Logical, err error) {
	defer tenon.Catch(&err)
	p := &parser{text: text}
	c = p.or()
	p.end()
	return c, nil
}

// end fails unless only white space is left.
func (p *parser) end() {
	p.space()
	if p.at < len(p.text) {
		p.fail("unexpected %q", p.rest())
	}
}

func (p *parser) fail(format string, args ...any) {
	tenon.Throw(Error(p.text, "at character %d: %s", 1+utf8.RuneCountInString(p.text[:p.at]), fmt.Sprintf(format, args...)))
}

// rest returns a few of the remaining characters.
func (p *parser) rest() string {
	r := p.text[p.at:]
	for i, n := 0, 0; i < len(r); n++ {
		if n == 12 {
			return r[:i] + "…"
		}
		_, size := utf8.DecodeRuneInString(r[i:])
		i += size
	}
	return r
}

func (p *parser) space() {
	for p.at < len(p.text) && strings.IndexByte(" \t\n\r", p.text[p.at]) >= 0 {
		p.at++
	}
}

func (p *parser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

// eat skips a token and white space before it, and reports whether the token was
// there.
func (p *parser) eat(token string) bool {
	p.space()
	if strings.HasPrefix(p.text[p.at:], token) {
		p.at += len(token)
		return true
	}
	return false
}

func (p *parser) want(token string) {
	if !p.eat(token) {
		if p.at == len(p.text) {
			p.fail("the path ends, want %q", token)
		}
		p.fail("got %q, want %q", p.rest(), token)
	}
}

// deeper enters a level of nesting. The function it returns leaves it.
func (p *parser) deeper() func() {
	if p.depth++; p.depth > maxDepth {
		p.fail("nested deeper than %d", maxDepth)
	}
	return func() { p.depth-- }
}

// query parses a path. If bare is set, it may begin with a name.
func (p *parser) query(bare bool) Query {
	var q Query
	switch c := p.peek(); {
	case c == '$':
		q.Root = true
		p.at++
	case c == '@':
		p.at++
	case bare && c != '[' && c != 0:
		q.Segments = append(q.Segments, p.dotted())
	case !bare:
		p.fail("got %q, want a path that begins with @", p.rest())
	}
	for {
		start := p.at
		p.space()
		switch {
		case strings.HasPrefix(p.text[p.at:], ".."):
			p.fail("descendants (..) are in several columns: name the one to use")
		case p.peek() == '.':
			p.at++
			q.Segments = append(q.Segments, p.dotted())
		case p.peek() == '[':
			p.at++
			q.Segments = append(q.Segments, p.bracketed())
		default:
			p.at = start
			return q
		}
	}
}

// dotted parses what follows a dot: a name, which may be quoted, or *.
func (p *parser) dotted() Segment {
	switch p.peek() {
	case '*':
		p.at++
		return Wildcard{}
	case '"', '\'':
		return ByName{Names: []string{p.quoted()}}
	}
	return ByName{Names: []string{p.name()}}
}

// name parses a name without quotes: letters, digits, underscores and non-ASCII
// characters, not beginning with a digit.
func (p *parser) name() string {
	start := p.at
	for p.at < len(p.text) {
		r, n := utf8.DecodeRuneInString(p.text[p.at:])
		if r == utf8.RuneError && n == 1 {
			p.fail("invalid UTF-8")
		}
		digit := r >= '0' && r <= '9'
		if !(r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= utf8.RuneSelf || digit && p.at > start) {
			break
		}
		p.at += n
	}
	if p.at == start {
		if p.at == len(p.text) {
			p.fail("the path ends, want a name")
		}
		p.fail("got %q, want a name", p.rest())
	}
	return p.text[start:p.at]
}

// bracketed parses what follows an opening bracket.
func (p *parser) bracketed() Segment {
	p.space()
	var s Segment
	switch c := p.peek(); {
	case c == '"' || c == '\'':
		n := ByName{Names: []string{p.quoted()}}
		for p.eat(",") {
			p.space()
			if c := p.peek(); c != '"' && c != '\'' {
				p.fail("got %q: only names can be listed", p.rest())
			}
			n.Names, n.List = append(n.Names, p.quoted()), true
		}
		s = n
	case c == '*':
		p.at++
		s = Wildcard{}
	case c == '?':
		p.at++
		s = ByFilter{p.or()}
	default:
		s = p.position()
	}
	if p.eat(",") {
		p.fail("only names can be listed")
	}
	p.want("]")
	return s
}

// position parses an index or a slice.
func (p *parser) position() Segment {
	start := p.optionalInt()
	if !p.eat(":") {
		if start == nil {
			p.fail("got %q, want a name in quotes, *, an index, a slice or ?", p.rest())
		}
		return ByIndex{*start}
	}
	s := BySlice{Start: start, Stop: p.optionalInt()}
	if p.eat(":") {
		s.Step = p.optionalInt()
	}
	if s.Step != nil && *s.Step == 0 {
		p.fail("the step is 0")
	}
	return s
}

// digits skips digits and returns their number.
func (p *parser) digits() int {
	start := p.at
	for c := p.peek(); c >= '0' && c <= '9'; c = p.peek() {
		p.at++
	}
	return p.at - start
}

// optionalInt parses an integer as defined by RFC 9535, without leading zeros.
func (p *parser) optionalInt() *int {
	p.space()
	start := p.at
	if p.peek() == '-' {
		p.at++
	}
	digits := p.at
	if p.digits(); p.at == start {
		return nil
	}
	text := p.text[start:p.at]
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n >= 1<<53 || n <= -1<<53 || p.at-digits > 1 && p.text[digits] == '0' || text == "-0" {
		p.at = start
		p.fail("%q is not an index", text)
	}
	i := int(n)
	return &i
}
