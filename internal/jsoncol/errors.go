package jsoncol

import (
	"fmt"
	"strings"
)

// Code is the kind of an Error.
type Code uint8

// The codes.
const (
	Syntax       Code = iota + 1 // not JSON as RFC 8259 defines it: {"a":}
	TypeMismatch                 // a value of a different kind than the schema's: "x" for an int64
	MissingValue                 // null, or a record without the field, if the policy rejects it
	DuplicateKey                 // {"a":1,"a":2}, if the policy rejects it
	UnknownKey                   // a key that the schema lacks
	OutOfRange                   // a number that the dtype cannot hold: 300 for an int8
	TooDeep                      // nested deeper than MaxDepth
	BadText                      // invalid UTF-8, or half a surrogate pair
	TooSparse                    // inferred fields that nearly every record lacks
	TooWide                      // more inferred columns than MaxColumns
)

// An Error is a fault in the input, with its position.
type Error struct {
	Code   Code
	Source string // name of the input, if it has one
	Offset int64  // bytes before the fault, from 0
	Line   int64  // from 1
	Column int64  // from 1, in bytes
	Row    int64  // number of the record, from 0
	Path   string // fields and list positions from the record down: orders[1].qty
	Detail string // what is wrong
}

// Error returns the position, the path and the fault on one line.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Source == "" {
		b.WriteString("json")
	} else {
		b.WriteString(e.Source)
	}
	fmt.Fprintf(&b, ":%d:%d: ", e.Line, e.Column)
	if e.Path != "" {
		b.WriteString(e.Path)
		b.WriteString(": ")
	}
	b.WriteString(e.Detail)
	fmt.Fprintf(&b, " (row %d, byte %d)", e.Row, e.Offset)
	return b.String()
}

// failure is an Error under construction: at is a position in the chunk, and path grows from the
// fault outwards.
type failure struct {
	code   Code
	at     int
	row    int64 // the record, counted from the one at which the parser failed
	detail string
	path   []string
	// widen says that inference may be able to accept the record.
	widen bool
	// keys says that the object at path may be a map, judging by its keys.
	keys bool
	// backfilled says that path ends in a field that was found late.
	backfilled bool
}

// failf records a fault at i and returns -1, which every parsing function returns in place of a
// position. Only the first fault of a record counts.
func (p *parser) failf(i int, code Code, format string, args ...any) int {
	p.failed = &failure{code: code, at: i, detail: fmt.Sprintf(format, args...)}
	return -1
}

// within adds a step to the path of the failure, and returns -1.
func (p *parser) within(step string) int {
	p.failed.path = append(p.failed.path, step)
	return -1
}

// inKey adds the key at i, which has been read before, to the path of the failure.
func (p *parser) inKey(i int) int {
	name, _ := p.name(i + 1)
	return p.within(quoteName(string(name)))
}

// element adds a list position to the path of the failure, and returns -1.
func (p *parser) element(k int) int { return p.within(fmt.Sprintf("[%d]", k)) }

// text returns the path from the record down.
func (f *failure) text() string {
	var b strings.Builder
	for i := len(f.path) - 1; i >= 0; i-- {
		step := f.path[i]
		if b.Len() > 0 && step[0] != '[' {
			b.WriteByte('.')
		}
		b.WriteString(step)
	}
	return b.String()
}

// show returns the text at i for a message, at most a few characters.
func (p *parser) show(i int) string {
	if i >= p.end {
		if p.closed {
			return "]"
		}
		return "the end of the input"
	}
	if c := p.t.byte(i); c == '\n' && !p.multi {
		return "the end of the line"
	}
	j := i
	for text := false; j < p.end && j < i+24; {
		c := p.t.byte(j)
		if c < ' ' || c >= 0x7f || !text && j > i && (c == ',' || c == '}' || c == ']' || c == ' ') {
			break
		}
		j++
		if c == '"' {
			if text {
				break
			}
			text = true
		}
	}
	if j == i {
		return fmt.Sprintf("byte 0x%02x", p.t.byte(i))
	}
	return string(p.t.slice(i, j))
}

// expected records that something else was expected at i.
func (p *parser) expected(i int, what string) int {
	return p.failf(i, Syntax, "expected %s, found %s", what, p.show(i))
}

// mismatch records that the value at i is of a different kind than the node.
func (p *parser) mismatch(i int, n *node) int {
	if c := classOf(p.t.byte(i)); c == classNone {
		return p.expected(i, "a value")
	}
	p.failf(i, TypeMismatch, "expected %s, found %s", n.describe(), p.show(i))
	p.failed.widen = n.inferred
	return -1
}

// describe names the values that the node accepts.
func (n *node) describe() string {
	switch n.op {
	case opInt, opUint:
		return "an integer (" + n.schema.dtype().String() + ")"
	case opFloat, opNarrow:
		return "a number"
	case opUnion:
		var s []string
		for _, f := range n.schema.Fields {
			s = append(s, f.Schema.Kind.class().String())
		}
		return strings.Join(s, " or ")
	case opInfer:
		return "null"
	}
	return "a JSON " + n.schema.Kind.class().String()
}
