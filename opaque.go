package tenon

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon/internal/source"
)

// Opaque is the Spec of a type whose name is not registered in this program. It
// keeps the encoding and the components, so that its values can be taken apart,
// reassembled, printed and stored without loss. Operations on them fail with an
// error that says what is missing.
type Opaque struct {
	name       string
	encoding   Encoding
	components []Field
}

// NewOpaque returns the Spec of an unknown type.
func NewOpaque(name string, e Encoding, components []Field) *Opaque {
	return &Opaque{name, e, components}
}

// TypeName returns the name that is not registered.
func (o *Opaque) TypeName() string { return o.name }

// Encode returns the encoding as it was read.
func (o *Opaque) Encode() Encoding { return o.encoding }

// Components returns the components as they were read.
func (o *Opaque) Components() []Field { return o.components }

// EqualSpec compares the components too, since nothing is known about how they follow from the
// encoding.
func (o *Opaque) EqualSpec(other Spec) bool {
	p, ok := other.(*Opaque)
	return ok && (o == p || o.name == p.name && EqualEncoding(o.encoding, p.encoding) &&
		slices.EqualFunc(o.components, p.components, func(a, b Field) bool { return a.Name == b.Name && Equal(a.Spec, b.Spec) }))
}

// Disassemble returns the components of an opaque value.
func (o *Opaque) Disassemble(v Value) ([]Value, error) {
	u, ok := v.(*OpaqueValue)
	if !ok || u.spec.name != o.name {
		return nil, NewError(ErrDType, o.name+".Disassemble", fmt.Sprintf("the value is a %s", describe(v)))
	}
	return slices.Clone(u.components), nil
}

// Assemble makes an opaque value.
func (o *Opaque) Assemble(components []Value) (Value, error) {
	if err := CheckComponents(o, components); err != nil {
		return nil, err
	}
	return &OpaqueValue{o, slices.Clone(components)}, nil
}

// Resolve returns the real Spec, once the type has been registered. Its values
// are assembled from the same components. Opaque Specs inside the encoding are
// resolved too if their types are registered.
func (o *Opaque) Resolve() (Spec, error) {
	e, err := MapSpecs(o.encoding, resolveKnown, nil)
	if err != nil {
		return nil, err
	}
	return Decode(o.name, e)
}

func resolveKnown(s Spec) (Spec, error) {
	if o, ok := s.(*Opaque); ok && Registered(o.name) {
		return o.Resolve()
	}
	return s, nil
}

// OpaqueValue is a value of a type that is not known here.
type OpaqueValue struct {
	spec       *Opaque
	components []Value
}

// Spec returns the value's *Opaque.
func (v *OpaqueValue) Spec() Spec { return v.spec }

// String names the type and its components.
func (v *OpaqueValue) String() string { return fmt.Sprintf("%s%v", v.spec.name, v.components) }

// Resolve returns the value as its real type, once that has been registered. It checks the value as
// [Check] does, which was not possible when it was read.
func (v *OpaqueValue) Resolve() (Value, error) {
	out, err := v.resolve()
	if err != nil {
		return nil, err
	}
	return out, Check(out)
}

func (v *OpaqueValue) resolve() (Value, error) {
	s, err := v.spec.Resolve()
	if err != nil {
		return nil, err
	}
	components := slices.Clone(v.components)
	for i, c := range components {
		if o, ok := c.(*OpaqueValue); ok && Registered(o.spec.name) {
			if components[i], err = o.resolve(); err != nil {
				return nil, err
			}
		}
	}
	return s.Assemble(components)
}

// CheckComponents checks that the components can belong to the fields of s: their
// number, and the Spec of each. Assemble methods begin with it.
func CheckComponents(s Spec, components []Value) error {
	fields := s.Components()
	if len(components) != len(fields) {
		return &Error{Kind: ErrInvalid, Op: s.TypeName() + ".Assemble", Line: source.Line(),
			Msg: fmt.Sprintf("got %d components, want %d", len(components), len(fields))}
	}
	for i, c := range components {
		if c == nil {
			return &Error{Kind: ErrInvalid, Op: s.TypeName() + ".Assemble", Where: fields[i].Name, Line: source.Line(), Msg: "the component is nil"}
		}
		if !Compatible(fields[i].Spec, c.Spec()) {
			return &Error{Kind: ErrDType, Op: s.TypeName() + ".Assemble", Where: fields[i].Name, Line: source.Line(),
				Msg: fmt.Sprintf("got %s, want %s%s", String(c.Spec()), String(fields[i].Spec), HiddenDifference(c.Spec(), fields[i].Spec))}
		}
	}
	return nil
}

func describe(v Value) string {
	if v == nil {
		return "nil value"
	}
	return v.Spec().TypeName()
}

// String returns a short text for people: the Spec's own String method where it
// has one, and its canonical text otherwise.
func String(s Spec) string {
	switch s := s.(type) {
	case nil:
		return "nil"
	case fmt.Stringer:
		return s.String()
	}
	return Text(s)
}
