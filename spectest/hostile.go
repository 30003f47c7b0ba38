package spectest

import (
	"errors"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// hostile checks that no encoding makes the type panic: every part of its own
// encoding is replaced, dropped and doubled, and its binary form is truncated and
// changed.
func (c *checker) hostile(s tenon.Spec) {
	if c.o.Unregistered {
		return
	}
	e := s.Encode()
	for _, bad := range append(mutants(e), replacements...) {
		c.decode(s.TypeName(), bad)
	}
	b := tenon.AppendBinary(nil, s)
	step := 1 + len(b)/300
	for i := 0; i < len(b); i += step {
		cut, changed := b[:i], append([]byte(nil), b...)
		changed[i] ^= 1 << (i % 8)
		c.runs("hostile", func() {
			if x, _, err := tenon.DecodeBinary(cut); err == nil {
				c.broken("hostile", "%d of %d bytes decode as %s", i, len(b), tenon.Text(x))
			}
			_, _, _ = tenon.DecodeBinary(changed)
		})
	}
}

// decode passes an encoding to the type, which may or may not accept it.
func (c *checker) decode(name string, e tenon.Encoding) {
	c.runs("hostile", func() {
		s, err := tenon.Decode(name, e)
		if err != nil {
			var known *tenon.Error
			if !errors.As(err, &known) || known.Kind == nil {
				c.broken("hostile", "the error for %s is the %T %v", tenon.EncodingText(e), err, err)
			}
			return
		}
		if s == nil {
			c.broken("hostile", "%s decodes as nil", tenon.EncodingText(e))
			return
		}
		c.readBack(s)
		fields := s.Components()
		bad := make([]tenon.Value, len(fields))
		for i := range bad {
			bad[i] = tensor.Scalar("hostile")
		}
		_, _ = s.Assemble(bad)
		_, _ = s.Disassemble(stranger())
		_ = tenon.String(s)
	})
}

// replacements are encodings to put where something else is expected.
var replacements = []tenon.Encoding{
	tenon.Nil{}, tenon.Bool(true), tenon.Int(-1), tenon.Int(1 << 40), tenon.Int(-1 << 63), tenon.Float(0.5), tenon.Str(""), tenon.Str("x"), tenon.Str("a\xff"),
	tenon.DType{DType: dtype.None}, tenon.DType{DType: dtype.String}, tenon.Shape{Shape: shape.UnknownRank}, tenon.Shape{Shape: shape.Of(0, -1)},
	tenon.Shape{Shape: shape.Of(1<<40, 1<<40)}, tenon.SpecOf{}, tenon.SpecOf{Spec: tensor.NewSpec(dtype.Bool, shape.UnknownRank)},
	tenon.SpecOf{Spec: tenon.NewOpaque("spectest.Stranger", tenon.Nil{}, nil)}, tenon.List{}, tenon.Tuple{}, tenon.List{tenon.Nil{}}, tenon.Tuple{tenon.Nil{}},
	tenon.Dict{}, tenon.Dict{{Name: "x", Value: tenon.Nil{}}}, tenon.NamedTuple{}, tenon.Array{DType: dtype.Int8, Shape: shape.Of(1), Data: "\x00"},
}

// mutants returns encodings that differ from e in one place.
func mutants(e tenon.Encoding) []tenon.Encoding {
	var out []tenon.Encoding
	out = append(out, replacements...)
	switch e := e.(type) {
	case tenon.List:
		for _, m := range mutantElems(e) {
			out = append(out, tenon.List(m))
		}
		out = append(out, tenon.Tuple(e))
	case tenon.Tuple:
		for _, m := range mutantElems(e) {
			out = append(out, tenon.Tuple(m))
		}
		out = append(out, tenon.List(e))
	case tenon.Dict:
		for _, m := range mutantEntries(e) {
			out = append(out, tenon.Dict(m))
		}
	case tenon.NamedTuple:
		for _, m := range mutantEntries(e.Fields) {
			out = append(out, tenon.NamedTuple{Name: e.Name, Fields: m})
		}
	}
	return out
}

func mutantElems(es []tenon.Encoding) [][]tenon.Encoding {
	var out [][]tenon.Encoding
	with := func(i, drop int, in ...tenon.Encoding) {
		m := append([]tenon.Encoding(nil), es[:i]...)
		out = append(out, append(append(m, in...), es[i+drop:]...))
	}
	for i, x := range es {
		with(i, 1)
		with(i, 0, x)
		for _, m := range mutants(x) {
			with(i, 1, m)
		}
	}
	with(len(es), 0, tenon.Nil{})
	return out
}

func mutantEntries(es []tenon.Entry) [][]tenon.Entry {
	var out [][]tenon.Entry
	with := func(i, drop int, in ...tenon.Entry) {
		m := append([]tenon.Entry(nil), es[:i]...)
		out = append(out, append(append(m, in...), es[i+drop:]...))
	}
	for i, x := range es {
		with(i, 1)
		with(i, 1, tenon.Entry{Name: "", Value: x.Value})
		with(i, 1, tenon.Entry{Name: x.Name + "~", Value: x.Value})
		for _, m := range mutants(x.Value) {
			with(i, 1, tenon.Entry{Name: x.Name, Value: m})
		}
	}
	with(len(es), 0, tenon.Entry{Name: "~~", Value: tenon.Nil{}})
	return out
}
