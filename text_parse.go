package tenon

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
)

// ParseSpec reads the canonical text of a Spec. A name that is not registered
// yields an *Opaque if the text contains its components.
func ParseSpec(text string) (s Spec, err error) {
	p := &parser{text: text}
	s, err = p.spec(0)
	if err == nil {
		err = p.end()
	}
	return s, err
}

// ParseEncoding reads the canonical text of an encoding.
func ParseEncoding(text string) (Encoding, error) {
	p := &parser{text: text}
	e, err := p.value(0)
	if err == nil {
		err = p.end()
	}
	return e, err
}

// ParseEncodingPrefix reads the canonical text of an encoding at the start of
// text and returns the number of bytes it took.
func ParseEncodingPrefix(text string) (Encoding, int, error) {
	p := &parser{text: text}
	e, err := p.value(0)
	return e, p.pos, err
}

// maxDepth bounds the nesting of encodings that are read. A record takes five levels, so that
// records nested 1000 deep, the limit of the JSON reader, can be written and read.
const maxDepth = 6000

type parser struct {
	text string
	pos  int
}

func (p *parser) fail(format string, args ...any) error {
	e := NewError(ErrInvalid, "tenon.ParseSpec", fmt.Sprintf(format, args...))
	e.Where = fmt.Sprintf("byte %d", p.pos)
	return e
}

func (p *parser) end() error {
	if p.space(); p.pos != len(p.text) {
		return p.fail("there is text after the end")
	}
	return nil
}

func (p *parser) space() {
	for p.pos < len(p.text) && (p.text[p.pos] == ' ' || p.text[p.pos] == '\n') {
		p.pos++
	}
}

func (p *parser) accept(c byte) bool {
	p.space()
	if p.pos < len(p.text) && p.text[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

func (p *parser) expect(c byte) error {
	if !p.accept(c) {
		return p.fail("expected %q", string(c))
	}
	return nil
}

func (p *parser) spec(depth int) (Spec, error) {
	if depth > maxDepth {
		return nil, p.fail("nested more than %d deep", maxDepth)
	}
	if err := p.expect('<'); err != nil {
		return nil, err
	}
	if p.accept('>') {
		return nil, nil
	}
	end := strings.IndexByte(p.text[p.pos:], ' ')
	if end < 0 {
		return nil, p.fail("a type name and an encoding are expected")
	}
	name := p.text[p.pos : p.pos+end]
	p.pos += end
	e, err := p.value(depth + 1)
	if err != nil {
		return nil, err
	}
	var fields []Field
	opaque := p.accept('|')
	for opaque {
		p.space()
		if p.pos < len(p.text) && p.text[p.pos] == '>' {
			break
		}
		f := Field{}
		if f.Name, err = p.name(); err != nil {
			return nil, err
		}
		if err = p.expect(':'); err != nil {
			return nil, err
		}
		if f.Spec, err = p.spec(depth + 1); err != nil {
			return nil, err
		}
		if f.Spec == nil {
			return nil, p.fail("component %q is not a spec", f.Name)
		}
		fields = append(fields, f)
		if !p.accept(',') {
			break
		}
	}
	if err := p.expect('>'); err != nil {
		return nil, err
	}
	return decodeOrOpaque(name, e, fields, opaque)
}

func decodeOrOpaque(name string, e Encoding, fields []Field, have bool) (Spec, error) {
	if !Registered(name) && have && isTypeName(name) {
		return NewOpaque(name, e, fields), nil
	}
	return Decode(name, e)
}

func (p *parser) name() (string, error) {
	p.space()
	if p.pos < len(p.text) && p.text[p.pos] == '"' {
		return p.quoted()
	}
	w := p.word()
	if w == "" {
		return "", p.fail("expected a name")
	}
	return w, nil
}

func (p *parser) quoted() (string, error) {
	q, err := strconv.QuotedPrefix(p.text[p.pos:])
	if err != nil {
		return "", p.fail("expected a quoted string")
	}
	s, err := strconv.Unquote(q)
	if err != nil {
		return "", p.fail("expected a quoted string")
	}
	p.pos += len(q)
	return s, nil
}

// word reads letters, digits and underscores.
func (p *parser) word() string {
	start := p.pos
	for p.pos < len(p.text) {
		r, n := utf8.DecodeRuneInString(p.text[p.pos:])
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		p.pos += n
	}
	return p.text[start:p.pos]
}

func (p *parser) value(depth int) (Encoding, error) {
	if depth > maxDepth {
		return nil, p.fail("nested more than %d deep", maxDepth)
	}
	p.space()
	if p.pos >= len(p.text) {
		return nil, p.fail("a value is expected")
	}
	switch c := p.text[p.pos]; c {
	case '"':
		s, err := p.quoted()
		return Str(s), err
	case '<':
		s, err := p.spec(depth)
		return SpecOf{s}, err
	case '[':
		es, err := p.sequence(']', depth)
		return List(es), err
	case '(':
		es, err := p.sequence(')', depth)
		return Tuple(es), err
	case '{':
		p.pos++
		es, err := p.entries('}', depth)
		if err != nil {
			return nil, err
		}
		for i := 1; i < len(es); i++ {
			if es[i-1].Name >= es[i].Name {
				return nil, p.fail("dict keys are not in order at %q", es[i].Name)
			}
		}
		return Dict(es), nil
	case '%':
		p.pos++
		name, err := p.name()
		if err != nil {
			return nil, err
		}
		if err := p.expect('('); err != nil {
			return nil, err
		}
		es, err := p.entries(')', depth)
		return NamedTuple{name, es}, err
	case '+', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return p.number()
	}
	switch w := p.word(); w {
	case "nil":
		return Nil{}, nil
	case "true", "false":
		return Bool(w == "true"), nil
	case "nan":
		return Float(math.NaN()), nil
	case "shape":
		s, err := p.shape()
		return Shape{s}, err
	case "array":
		return p.array()
	default:
		d, err := dtype.Parse(w)
		if err != nil {
			return nil, p.fail("%q is not a value", w)
		}
		return DType{d}, nil
	}
}

func (p *parser) sequence(end byte, depth int) ([]Encoding, error) {
	p.pos++
	var es []Encoding
	for !p.accept(end) {
		if len(es) > 0 {
			if err := p.expect(','); err != nil {
				return nil, err
			}
		}
		e, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		es = append(es, e)
	}
	return es, nil
}

func (p *parser) entries(end byte, depth int) ([]Entry, error) {
	var es []Entry
	for !p.accept(end) {
		if len(es) > 0 {
			if err := p.expect(','); err != nil {
				return nil, err
			}
		}
		name, err := p.name()
		if err != nil {
			return nil, err
		}
		if err := p.expect(':'); err != nil {
			return nil, err
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		es = append(es, Entry{name, v})
	}
	return es, nil
}

func (p *parser) number() (Encoding, error) {
	start := p.pos
	for p.pos < len(p.text) && strings.IndexByte("+-.0123456789einf", p.text[p.pos]) >= 0 {
		p.pos++
	}
	t := p.text[start:p.pos]
	if n, err := strconv.ParseInt(t, 10, 64); err == nil {
		return Int(n), nil
	}
	f, err := strconv.ParseFloat(t, 64)
	if err != nil {
		return nil, p.fail("%q is not a number", t)
	}
	return Float(f), nil
}

func (p *parser) shape() (shape.Shape, error) {
	p.space()
	end := strings.IndexByte(p.text[p.pos:], ']')
	if end < 0 {
		return shape.Shape{}, p.fail("expected a shape")
	}
	s, err := shape.Parse(p.text[p.pos : p.pos+end+1])
	if err != nil {
		return shape.Shape{}, p.fail("%v", err)
	}
	p.pos += end + 1
	return s, nil
}

func (p *parser) array() (Encoding, error) {
	if err := p.expect('('); err != nil {
		return nil, err
	}
	p.space()
	d, err := dtype.Parse(p.word())
	if err != nil {
		return nil, p.fail("expected an element type")
	}
	if err := p.expect(','); err != nil {
		return nil, err
	}
	s, err := p.shape()
	if err != nil {
		return nil, err
	}
	if err := p.expect(','); err != nil {
		return nil, err
	}
	p.space()
	end := strings.IndexByte(p.text[p.pos:], ')')
	if end < 0 {
		return nil, p.fail("the array is not terminated")
	}
	data, err := base64.StdEncoding.DecodeString(p.text[p.pos : p.pos+end])
	if err != nil {
		return nil, p.fail("the data of the array is not base64")
	}
	p.pos += end + 1
	return newArray(d, s, string(data))
}

// newArray checks that data fit the element type and shape.
func newArray(d dtype.DType, s shape.Shape, data string) (Encoding, error) {
	n, err := s.CheckedSize(d.Size())
	if err != nil {
		return nil, NewError(ErrInvalid, "tenon.Array", err.Error())
	}
	if d.Size() == 0 || len(data) != n*d.Size() {
		return nil, NewError(ErrInvalid, "tenon.Array", fmt.Sprintf("%d bytes are not a %v%v", len(data), d, s))
	}
	return Array{d, s, data}, nil
}
