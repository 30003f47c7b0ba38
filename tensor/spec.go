package tensor

import (
	"fmt"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/shape"
)

// A Tensor is a value with an element type and a shape. The shape is what is
// known statically; sizes of a symbolic or ragged tensor may be unknown.
type Tensor interface {
	tenon.Value

	// DType returns the type of the elements, or dtype.None if they have no single type.
	DType() dtype.DType

	// Shape returns the sizes as far as they are known.
	Shape() shape.Shape
}

// TypeName is the registered name of [*Spec].
const TypeName = "tensor.Tensor"

// Spec describes dense tensors: an element type, a shape, and optionally a name
// (of an argument, say). It is the leaf of all Specs.
type Spec struct {
	note  unsafe.Pointer // *string: the name, or nil. In a Dense: *extra, see there
	shape shape.Shape
	bits  bits
}

// bits packs the element type and, in a Dense, more facts about the tensor.
type bits uint64

// specOf returns the Spec of a type and shape as a value.
func specOf(d dtype.DType, s shape.Shape) Spec { return Spec{shape: s, bits: bits(d)} }

// NewSpec returns the Spec of tensors with the given element type and shape.
func NewSpec(d dtype.DType, s shape.Shape) *Spec { return &Spec{shape: s, bits: bits(d)} }

// Named returns the same Spec with the given name.
func (s *Spec) Named(name string) *Spec {
	n := NewSpec(s.DType(), s.shape)
	n.note = unsafe.Pointer(&name)
	return n
}

// like returns a Spec with another shape and the same name.
func (s *Spec) like(sh shape.Shape) *Spec {
	n := NewSpec(s.DType(), sh)
	if s.bits&dense == 0 {
		n.note = s.note
	}
	return n
}

// DType returns the element type.
func (s *Spec) DType() dtype.DType { return dtype.DType(s.bits) }

// Shape returns the sizes as far as they are known.
func (s *Spec) Shape() shape.Shape { return s.shape }

// Name returns the name, or "".
func (s *Spec) Name() string {
	if s.bits&dense != 0 || s.note == nil {
		return ""
	}
	return *(*string)(s.note)
}

// TypeName returns "tensor.Tensor".
func (*Spec) TypeName() string { return TypeName }

// IsLeaf returns true: dense tensors have no components.
func (*Spec) IsLeaf() bool { return true }

// Encode returns (dtype, shape) or (dtype, shape, name).
func (s *Spec) Encode() tenon.Encoding {
	t := tenon.Tuple{tenon.DType{DType: s.DType()}, tenon.Shape{Shape: s.shape}}
	if name := s.Name(); name != "" {
		t = append(t, tenon.Str(name))
	}
	return t
}

func decodeSpec(e tenon.Encoding) (tenon.Spec, error) {
	t, err := tenon.Elems(e, -1)
	if err != nil {
		return nil, err
	}
	if len(t) != 2 && len(t) != 3 {
		return nil, tenon.NewError(tenon.ErrInvalid, "tensor.Spec", fmt.Sprintf("the encoding has %d elements, not 2 or 3", len(t)))
	}
	d, err := tenon.As[tenon.DType](t[0])
	if err != nil {
		return nil, err
	}
	if d.DType == dtype.None {
		return nil, tenon.NewError(tenon.ErrDType, "tensor.Spec", "a dense tensor has an element type")
	}
	sh, err := tenon.As[tenon.Shape](t[1])
	if err != nil {
		return nil, err
	}
	s := NewSpec(d.DType, sh.Shape)
	if len(t) == 3 {
		name, err := tenon.As[tenon.Str](t[2])
		if err != nil {
			return nil, err
		}
		s = s.Named(string(name))
	}
	return s, nil
}

func init() { tenon.Register(TypeName, decodeSpec) }

// Components returns nil.
func (*Spec) Components() []tenon.Field { return nil }

// Disassemble returns nil: a dense tensor is a leaf.
func (s *Spec) Disassemble(v tenon.Value) ([]tenon.Value, error) { return nil, s.check(v) }

func (s *Spec) check(v tenon.Value) error {
	if v == nil || !tenon.Compatible(s, v.Spec()) {
		got := "nil"
		if v != nil {
			got = tenon.String(v.Spec())
		}
		return &tenon.Error{Kind: tenon.ErrDType, Op: "tensor.Spec", Line: source.Line(), Msg: fmt.Sprintf("got %s, want %v", got, s)}
	}
	return nil
}

// Assemble returns an error: leaves have no components.
func (s *Spec) Assemble(components []tenon.Value) (tenon.Value, error) {
	return nil, tenon.NewError(tenon.ErrInvalid, "tensor.Spec.Assemble", fmt.Sprintf("a %v is a leaf and has no components", s))
}

// EqualSpec compares the fields without encoding the Specs.
func (s *Spec) EqualSpec(other tenon.Spec) bool {
	o, ok := other.(*Spec)
	return ok && (s == o || s.DType() == o.DType() && s.shape.Equal(o.shape) && s.Name() == o.Name())
}

// SubtypeOf reports whether the element types are equal and the shape is a
// subtype. Names are ignored.
func (s *Spec) SubtypeOf(other tenon.Spec) bool {
	o, ok := other.(*Spec)
	return ok && s.DType() == o.DType() && s.shape.SubtypeOf(o.shape)
}

// CompatibleWith reports whether the element types are equal and the shapes
// compatible. Names are ignored.
func (s *Spec) CompatibleWith(other tenon.Spec) bool {
	if o, ok := other.(*Spec); ok {
		return s.DType() == o.DType() && s.shape.CompatibleWith(o.shape)
	}
	if c, ok := other.(tenon.Compatibler); ok {
		return c.CompatibleWith(s)
	}
	return false
}

// MergeWith joins the shapes of Specs with equal element types. The name is kept
// if both have it.
func (s *Spec) MergeWith(other tenon.Spec) (tenon.Spec, bool) {
	o, ok := other.(*Spec)
	if !ok {
		if m, ok := other.(tenon.Merger); ok {
			return m.MergeWith(s)
		}
		return nil, false
	}
	if s.DType() != o.DType() {
		return nil, false
	}
	joined := shape.Join(s.shape, o.shape)
	if s.Name() == o.Name() {
		return s.like(joined), true
	}
	return NewSpec(s.DType(), joined), true
}

// Batched adds an outermost axis of size n.
func (s *Spec) Batched(n int) (tenon.Spec, error) {
	return s.like(s.shape.Insert(0, n)), nil
}

// Unbatched removes the outermost axis.
func (s *Spec) Unbatched() (tenon.Spec, error) {
	if s.shape.IsScalar() {
		return nil, tenon.NewError(tenon.ErrShape, "tensor.Spec.Unbatched", fmt.Sprintf("%v has no outer axis", s))
	}
	if !s.shape.HasRank() {
		return s, nil
	}
	return s.like(s.shape.Remove(0)), nil
}

// Box returns the tensor itself.
func (s *Spec) Box(v tenon.Value, minRank int) ([]tenon.Value, error) { return Box(s, v, minRank) }

// Unbox returns the tensor itself.
func (s *Spec) Unbox(tensors []tenon.Value) (tenon.Value, error) { return Unbox(s, tensors) }

// String returns "float32[2, ?]", preceded by the name if there is one.
func (s *Spec) String() string {
	t := s.DType().String() + s.shape.String()
	if name := s.Name(); name != "" {
		return name + ": " + t
	}
	return t
}
