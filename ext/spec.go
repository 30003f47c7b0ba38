package ext

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"unique"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ext/codec"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/tensor"
)

// Spec is the Spec of a registered type: its static fields, and the Specs of the
// others. A type whose Spec has methods of its own embeds a *Spec; see [Options].
type Spec struct {
	info   *info
	like   unsafe.Pointer // the fields, without Values
	slots  []tenon.Spec   // of each place; nil if it is empty
	fields []tenon.Field  // the places that hold Values
	outer  tenon.Spec     // what others see: the receiver, or what Options.Spec made of it
	hash   uint64         // of slots; see hashOf
	nested bool           // a slot's Spec is not a plain tensor's

	encoding atomic.Pointer[tenon.Encoding]
	key      atomic.Pointer[string]
}

var (
	_ tenon.Equaler     = (*Spec)(nil)
	_ tenon.Subtyper    = (*Spec)(nil)
	_ tenon.Compatibler = (*Spec)(nil)
	_ tenon.Merger      = (*Spec)(nil)
	_ tenon.Keyer       = (*Spec)(nil)
	_ tenon.Refiner     = (*Spec)(nil)
	_ tenon.Batcher     = (*Spec)(nil)
	_ tenon.Boxer       = (*Spec)(nil)
	_ tenon.Caster      = (*Spec)(nil)
	_ tenon.Checker     = (*Spec)(nil)
)

// derived is a *Spec, or a type that embeds one.
type derived interface {
	tenon.Spec
	extSpec() *Spec
}

func (s *Spec) extSpec() *Spec { return s }

// specOf returns the *Spec of a Spec of a registered type.
func specOf(s tenon.Spec) (*Spec, bool) {
	d, ok := s.(derived)
	if !ok {
		return nil, false
	}
	return d.extSpec(), true
}

// seal completes a Spec.
func (s *Spec) seal() {
	i := s.info
	names := i.appendNames(s.like, make([]string, 0, len(s.slots)))
	for k, slot := range s.slots {
		if slot != nil {
			s.fields = append(s.fields, tenon.Field{Name: names[k], Spec: slot})
		}
	}
	s.hash = hashAll(s.slots)
	s.nested = slices.ContainsFunc(s.slots, func(x tenon.Spec) bool { _, plain := x.(*tensor.Spec); return x != nil && !plain })
	s.outer = s
	if i.wrap != nil {
		s.outer = i.wrap(s)
	}
}

// TypeName returns the name that the type is registered under.
func (s *Spec) TypeName() string { return s.info.name }

// Refines returns the names of the types whose structs this type embeds.
func (s *Spec) Refines() []string { return s.info.refines }

// Encode returns the version of the type's encoding and its fields.
func (s *Spec) Encode() tenon.Encoding {
	if e := s.encoding.Load(); e != nil {
		return *e
	}
	specs := s.slots
	fields := s.info.encodeFields(s.like, &specs)
	e := tenon.Encoding(tenon.Tuple{tenon.Int(s.info.version), tenon.NamedTuple{Name: s.info.short, Fields: fields}})
	s.encoding.Store(&e)
	return e
}

// decode makes a Spec from an encoding of any version that can be migrated. Fields alone, whatever
// the name of their tuple, are those of version 0: TensorFlow's messages have no version and use
// names of their own.
func (i *info) decode(e tenon.Encoding) (tenon.Spec, error) {
	if fields, ok := e.(tenon.NamedTuple); ok {
		e = tenon.Tuple{tenon.Int(0), tenon.NamedTuple{Name: i.short, Fields: fields.Fields}}
	}
	t, err := tenon.Elems(e, 2)
	if err != nil {
		return nil, err
	}
	version, err := tenon.As[tenon.Int](t[0])
	if err != nil {
		return nil, err
	}
	fields, err := tenon.As[tenon.NamedTuple](t[1])
	if err != nil {
		return nil, err
	}
	if fields.Name != i.short {
		return nil, codec.Bad("the fields are those of a %q, want a %q", fields.Name, i.short)
	}
	if int64(version) != int64(i.version) {
		return i.stored(int64(version), e, fields)
	}
	s := &Spec{info: i, like: reflect.New(i.node.typ).UnsafePointer()}
	if err := i.decodeFields(s.like, fields.Fields, &s.slots); err != nil {
		x := *tenon.AsError(err)
		x.Op = i.name
		return nil, &x
	}
	if err := i.checkOneOf(s.like); err != nil {
		return nil, err
	}
	s.seal()
	return s.outer, nil
}

// SpecKey returns the canonical text, which is computed once.
func (s *Spec) SpecKey() string {
	if k := s.key.Load(); k != nil {
		return *k
	}
	k := unique.Make(tenon.Text(s)).Value()
	s.key.Store(&k)
	return k
}

// EqualSpec compares without encoding the Specs.
func (s *Spec) EqualSpec(other tenon.Spec) bool {
	o, ok := specOf(other)
	if !ok || s.info != o.info || len(s.slots) != len(o.slots) {
		return false
	}
	if s == o {
		return true
	}
	if s.hash != o.hash {
		return false
	}
	for k, a := range s.slots {
		if !tenon.Equal(a, o.slots[k]) {
			return false
		}
	}
	return s.info.same(s.like, o.like)
}

// SubtypeOf follows the encodings: Specs of fields and static shapes may be
// subtypes, and other static data must be equal.
func (s *Spec) SubtypeOf(other tenon.Spec) bool {
	if o, ok := specOf(other); ok && o == s {
		return true
	}
	return tenon.SubtypeByEncoding(s, other)
}

// CompatibleWith follows the encodings. A Spec of an earlier version stands for the values that it
// assembles.
func (s *Spec) CompatibleWith(other tenon.Spec) bool {
	if o, ok := specOf(other); ok && o == s {
		return true
	}
	if o, ok := other.(*storedSpec); ok {
		return o.CompatibleWith(s)
	}
	return tenon.CompatibleByEncoding(s, other)
}

// MergeWith follows the encodings. It does not guess: Specs whose static data
// differ, other than in shapes, have no merge.
func (s *Spec) MergeWith(other tenon.Spec) (tenon.Spec, bool) {
	return tenon.MergeByEncoding(s, other)
}

// Components returns the Values among the fields, in order: "Values",
// "Layers[0]", `Labels["age"]`.
func (s *Spec) Components() []tenon.Field { return s.fields }

// Disassemble returns the Values among the fields of v.
func (s *Spec) Disassemble(v tenon.Value) ([]tenon.Value, error) {
	p, ok := s.info.unbox(v)
	if !ok {
		return nil, s.fail(tenon.ErrDType, "Disassemble", "", fmt.Sprintf("the value is a %s", typeNameOf(v)))
	}
	if err := s.info.node.bounded(p, maxDepth); err != nil {
		return nil, s.fail(tenon.ErrInvalid, "Disassemble", tenon.AsError(err).Where, tenon.AsError(err).Msg)
	}
	out := s.info.appendValues(p, make([]tenon.Value, 0, len(s.slots)))
	if len(out) != len(s.slots) {
		return nil, s.fail(tenon.ErrInvalid, "Disassemble", "", fmt.Sprintf("the value has %d Values, the Spec %d", len(out), len(s.slots)))
	}
	if len(s.fields) == len(s.slots) {
		for k, x := range out {
			if x == nil {
				return nil, s.fail(tenon.ErrInvalid, "Disassemble", s.fields[k].Name, "there is no Value")
			}
		}
		return out, nil
	}
	kept := out[:0]
	for k, x := range out {
		if (x == nil) != (s.slots[k] == nil) {
			return nil, s.fail(tenon.ErrInvalid, "Disassemble", "", "the value has another set of optional fields than the Spec")
		}
		if x != nil {
			kept = append(kept, x)
		}
	}
	return kept, nil
}

// Match appends the Values among the fields of v to out if its Spec is s, without making that Spec.
// It returns false for any other value, and if optional fields are empty.
func (s *Spec) Match(v tenon.Value, out []tenon.Value) (components []tenon.Value, ok bool) {
	p, ok := s.info.unbox(v)
	if !ok || len(s.fields) != len(s.slots) || s.info.node.bounded(p, maxDepth) != nil {
		return nil, false
	}
	n := len(out)
	out = s.info.appendValues(p, out)
	var room [8]tenon.Spec
	specs, _, err := specsOf(room[:0], out[n:], maxDepth)
	return out, err == nil && s.describes(p, specs)
}

func typeNameOf(v tenon.Value) string {
	if v == nil || words(&v)[1] == nil {
		return "nil value"
	}
	return v.Spec().TypeName()
}

// Assemble makes a value from the Values among its fields, which must belong to
// the Spec. It does not validate the value, since gradients and batches are
// assembled too; see [Check].
func (s *Spec) Assemble(components []tenon.Value) (tenon.Value, error) {
	if len(components) != len(s.fields) {
		return nil, s.fail(tenon.ErrInvalid, "Assemble", "", fmt.Sprintf("got %d components, want %d", len(components), len(s.fields)))
	}
	for k, c := range components {
		if c == nil || words(&c)[1] == nil {
			return nil, s.fail(tenon.ErrInvalid, "Assemble", s.fields[k].Name, "the component is nil")
		}
		want, got := s.fields[k].Spec, c.Spec()
		if *words(&want) != *words(&got) && !compatible(want, got) {
			return nil, s.fail(tenon.ErrDType, "Assemble", s.fields[k].Name, fmt.Sprintf("got %s, want %s%s", tenon.String(got), tenon.String(want), tenon.HiddenDifference(got, want)))
		}
	}
	i := s.info
	p := i.clone(s.like)
	i.node.own(p)
	values := components
	if len(s.slots) != len(s.fields) {
		values = make([]tenon.Value, len(s.slots))
		next := 0
		for k, slot := range s.slots {
			if slot != nil {
				values[k] = components[next]
				next++
			}
		}
	}
	if err := i.fill(p, values); err != nil {
		e := *tenon.AsError(err)
		e.Op, e.Line = i.name+".Assemble", source.Line()
		return nil, &e
	}
	return i.box(p), nil
}

// compatible is a version of tenon.Compatible that is faster for dense tensors.
func compatible(a, b tenon.Spec) bool {
	if t, ok := a.(*tensor.Spec); ok {
		return t.CompatibleWith(b)
	}
	return tenon.Compatible(a, b)
}

// equal is a version of tenon.Equal that is faster for dense tensors.
func equal(a, b tenon.Spec) bool {
	if t, ok := a.(*tensor.Spec); ok {
		return t.EqualSpec(b)
	}
	return tenon.Equal(a, b)
}

func (s *Spec) fail(kind error, method, where, msg string) error {
	return &tenon.Error{Kind: kind, Op: s.info.name + "." + method, Where: where, Msg: msg, Line: source.Line()}
}

// String returns the type and its fields: "Masked{Values: float32[2], Mask: bool[2]}".
func (s *Spec) String() string {
	t, _ := tenon.Elems(s.Encode(), 2)
	fields, _ := tenon.As[tenon.NamedTuple](t[1])
	return s.info.short + entriesText(fields.Fields)
}

func entriesText(es []tenon.Entry) string {
	parts := make([]string, len(es))
	for i, e := range es {
		parts[i] = e.Name + ": " + text(e.Value)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// text formats an encoding for people.
func text(e tenon.Encoding) string {
	elems := func(es []tenon.Encoding) string {
		parts := make([]string, len(es))
		for i, x := range es {
			parts[i] = text(x)
		}
		return strings.Join(parts, ", ")
	}
	switch e := e.(type) {
	case tenon.SpecOf:
		return tenon.String(e.Spec)
	case tenon.List:
		return "[" + elems(e) + "]"
	case tenon.Tuple:
		return "(" + elems(e) + ")"
	case tenon.NamedTuple:
		return entriesText(e.Fields)
	case tenon.Dict:
		return entriesText(e)
	}
	return tenon.EncodingText(e)
}

// Static returns the static data of a field as Go data: a bool, int, float64, string, dtype.DType
// or shape.Shape, slices and maps of them, or nil if it is empty. It returns false if there is no
// such field or it holds Values. Methods of Specs use it.
func (s *Spec) Static(name string) (any, bool) {
	for _, f := range s.info.node.flat(0, nil) {
		if f.name == name && f.node.places == 0 {
			return goData(f.node.encode(unsafe.Add(s.like, f.offset), new([]tenon.Spec)), nil), true
		}
	}
	return nil, false
}

// Field returns the Spec of the component with the given name (see [Spec.Components]), or nil if
// there is none.
func (s *Spec) Field(name string) tenon.Spec {
	for _, f := range s.fields {
		if f.Name == name {
			return f.Spec
		}
	}
	return nil
}

// Tensor returns the Spec of a field that is a tensor, or nil if there is none:
//
//	func (s MaskedSpec) DType() dtype.DType { return s.Tensor("Values").DType() }
func (s *Spec) Tensor(name string) TensorSpec {
	t, _ := s.Field(name).(TensorSpec)
	return t
}

// TensorSpec is the Spec of a tensor of any kind.
type TensorSpec interface {
	tenon.Spec
	tensorLike
}

var _ TensorSpec = (*tensor.Spec)(nil)
