package tenon

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns the canonical text of a Spec: two Specs are equal if and only if
// their texts are. [ParseSpec] reads it.
//
//	<tensor.Tensor (float32, shape[2, ?])>
func Text(s Spec) string { return string(appendSpec(nil, s)) }

// EncodingText returns the canonical text of an encoding.
func EncodingText(e Encoding) string { return string(appendText(nil, e)) }

func appendSpec(b []byte, s Spec) []byte {
	if s == nil {
		return append(b, "<>"...)
	}
	b = append(b, '<')
	b = append(b, s.TypeName()...)
	b = append(b, ' ')
	b = appendText(b, s.Encode())
	if o, ok := s.(*Opaque); ok {
		b = appendFields(b, o.components)
	}
	return append(b, '>')
}

// appendFields writes the components of an opaque Spec, without which it could
// not be assembled.
func appendFields(b []byte, fields []Field) []byte {
	b = append(b, " | "...)
	for i, f := range fields {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = appendName(b, f.Name)
		b = append(b, ": "...)
		b = appendSpec(b, f.Spec)
	}
	return b
}

func appendName(b []byte, name string) []byte {
	if isIdent(name) {
		return append(b, name...)
	}
	return strconv.AppendQuote(b, name)
}

func isIdent(s string) bool {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) || r == utf8.RuneError {
			return false
		}
	}
	return s != ""
}

func appendText(b []byte, e Encoding) []byte {
	seq := func(open byte, es []Encoding, end byte) {
		b = append(b, open)
		for i, x := range es {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = appendText(b, x)
		}
		b = append(b, end)
	}
	entries := func(open byte, es []Entry, end byte) {
		b = append(b, open)
		for i, x := range es {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = appendName(b, x.Name)
			b = append(b, ": "...)
			b = appendText(b, x.Value)
		}
		b = append(b, end)
	}
	switch e := e.(type) {
	case nil, Nil:
		return append(b, "nil"...)
	case Bool:
		return strconv.AppendBool(b, bool(e))
	case Int:
		return strconv.AppendInt(b, int64(e), 10)
	case Float:
		return appendFloat(b, float64(e))
	case Str:
		return strconv.AppendQuote(b, string(e))
	case DType:
		return append(b, e.DType.String()...)
	case Shape:
		return append(append(b, "shape"...), e.Shape.String()...)
	case SpecOf:
		return appendSpec(b, e.Spec)
	case List:
		seq('[', e, ']')
	case Tuple:
		seq('(', e, ')')
	case NamedTuple:
		b = append(b, '%')
		b = appendName(b, e.Name)
		entries('(', e.Fields, ')')
	case Dict:
		entries('{', e, '}')
	case Array:
		b = append(b, "array("...)
		b = append(b, e.DType.String()...)
		b = append(b, ", "...)
		b = append(b, e.Shape.String()...)
		b = append(b, ", "...)
		b = base64.StdEncoding.AppendEncode(b, []byte(e.Data))
		b = append(b, ')')
	}
	return b
}

func appendFloat(b []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, "nan"...)
	case math.IsInf(f, 1):
		return append(b, "+inf"...)
	case math.IsInf(f, -1):
		return append(b, "-inf"...)
	}
	n := len(b)
	b = strconv.AppendFloat(b, f, 'g', -1, 64)
	if !strings.ContainsAny(string(b[n:]), ".e") {
		b = append(b, ".0"...)
	}
	return b
}

// MarshalText returns the canonical text of the Spec, for JSON, flags and the like. It returns
// nothing for a nil Spec.
func (s SpecOf) MarshalText() ([]byte, error) {
	if s.Spec == nil {
		return []byte{}, nil
	}
	return []byte(Text(s.Spec)), nil
}

// UnmarshalText reads the canonical text of a Spec.
func (s *SpecOf) UnmarshalText(text []byte) (err error) {
	if s.Spec = nil; len(text) > 0 {
		s.Spec, err = ParseSpec(string(text))
	}
	return err
}
