package spectest

import (
	"fmt"

	"github.com/tenonml/tenon"
)

// spec checks that a Spec is pure and survives its text and binary forms.
func (c *checker) spec(v tenon.Value, s tenon.Spec) {
	if !tenon.Equal(s, v.Spec()) {
		c.broken("pure", "two calls of the value's Spec differ")
	}
	if !tenon.EqualEncoding(s.Encode(), s.Encode()) {
		c.broken("pure", "two calls of Encode differ")
	}
	if !tenon.Belongs(v, s) {
		c.broken("belongs", "the value does not belong to its own Spec")
	}
	if fmt.Sprint(v) == "" || tenon.String(s) == "" {
		c.broken("print", "the text for people is empty")
	}
	text := tenon.Text(s)
	c.readBack(s)
	if again := tenon.Text(s); again != text {
		c.broken("pure", "the Spec changed from %s to %s", text, again)
	}
}

// readBack checks the ways in which a Spec is written and read.
func (c *checker) readBack(s tenon.Spec) {
	if c.o.Unregistered {
		return
	}
	check := func(law string, back tenon.Spec, err error) {
		switch {
		case err != nil:
			c.broken(law, "%v", err)
		case !tenon.Equal(s, back) || !tenon.Equal(back, s):
			c.broken(law, "reads back as %s", tenon.Text(back))
		case tenon.Text(back) != tenon.Text(s) || tenon.Key(back) != tenon.Key(s):
			c.broken(law, "reads back with the text %s and the key %s", tenon.Text(back), tenon.Key(back))
		}
	}
	back, err := tenon.Decode(s.TypeName(), s.Encode())
	check("encoding", back, err)
	back, err = tenon.ParseSpec(tenon.Text(s))
	check("text", back, err)
	b := tenon.AppendBinary([]byte("before"), s)
	back, rest, err := tenon.DecodeBinary(append(b[len("before"):], "behind"...))
	check("binary", back, err)
	if err == nil && string(rest) != "behind" {
		c.broken("binary", "%d bytes are left, not 6", len(rest))
	}
	e, err := tenon.ParseEncoding(tenon.EncodingText(s.Encode()))
	if err != nil || !tenon.EqualEncoding(e, s.Encode()) {
		c.broken("text", "the encoding's text %s reads back as %v, %v", tenon.EncodingText(s.Encode()), e, err)
	}
}

// opaque checks that a program that does not know the type loses nothing.
func (c *checker) opaque(v tenon.Value, s tenon.Spec) {
	if tenon.IsLeaf(s) || c.o.Unregistered {
		return
	}
	o := tenon.NewOpaque(s.TypeName(), s.Encode(), s.Components())
	parts, err := s.Disassemble(v)
	if err != nil {
		return // reported elsewhere
	}
	u, err := o.Assemble(parts)
	if err != nil {
		c.broken("opaque", "%v", err)
		return
	}
	again, err := o.Disassemble(u)
	if err != nil || len(again) != len(parts) {
		c.broken("opaque", "is disassembled to %v, %v", again, err)
	}
	back, err := u.(*tenon.OpaqueValue).Resolve()
	if err != nil || !sameValue(back, v) {
		c.broken("opaque", "resolves to %v, %v", back, err)
	}
}
