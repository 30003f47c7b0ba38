package tensor

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/shape"
)

// A Tensor is a value with an element type and a shape. The shape is what is
// known statically: sizes of a symbolic or ragged tensor may be unknown.
type Tensor interface {
	tenon.Value

	// DType returns the type of the elements, dtype.None where there is no single one.
	DType() dtype.DType

	// Shape returns the sizes that are known.
	Shape() shape.Shape
}

// TypeName is the registered name of [*Spec].
const TypeName = "tensor.Tensor"

// Spec describes dense tensors: an element type, a shape, and optionally a name
// (of an argument, say). It is the leaf of all Specs.
type Spec struct {
	name  *string // nil: none
	shape shape.Shape
	dtype dtype.DType
}

// NewSpec returns the Spec of tensors with the given element type and shape.
func NewSpec(d dtype.DType, s shape.Shape) *Spec { return &Spec{dtype: d, shape: s} }

// Named returns the same Spec with a name.
func (s *Spec) Named(name string) *Spec { return &Spec{dtype: s.dtype, shape: s.shape, name: &name} }

// DType returns the element type.
func (s *Spec) DType() dtype.DType { return s.dtype }

// Shape returns the sizes that are known.
func (s *Spec) Shape() shape.Shape { return s.shape }

// Name returns the name, or "".
func (s *Spec) Name() string {
	if s.name == nil {
		return ""
	}
	return *s.name
}

// TypeName returns "tensor.Tensor".
func (*Spec) TypeName() string { return TypeName }

// IsLeaf returns true: dense tensors have no components.
func (*Spec) IsLeaf() bool { return true }

// Encode returns (dtype, shape) or (dtype, shape, name).
func (s *Spec) Encode() tenon.Encoding {
	t := tenon.Tuple{tenon.DType{DType: s.dtype}, tenon.Shape{Shape: s.shape}}
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
		text := string(name)
		s.name = &text
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

// Assemble is an error: leaves are not made of components.
func (s *Spec) Assemble(components []tenon.Value) (tenon.Value, error) {
	return nil, tenon.NewError(tenon.ErrInvalid, "tensor.Spec.Assemble", fmt.Sprintf("a %v is a leaf and has no components", s))
}

// EqualSpec compares without encoding.
func (s *Spec) EqualSpec(other tenon.Spec) bool {
	o, ok := other.(*Spec)
	return ok && (s == o || s.dtype == o.dtype && s.shape.Equal(o.shape) && s.Name() == o.Name())
}

// SubtypeOf reports whether the element types are equal and the shape is a
// subtype. Names play no part.
func (s *Spec) SubtypeOf(other tenon.Spec) bool {
	o, ok := other.(*Spec)
	return ok && s.dtype == o.dtype && s.shape.SubtypeOf(o.shape)
}

// CompatibleWith reports whether the element types are equal and the shapes
// compatible. Names play no part.
func (s *Spec) CompatibleWith(other tenon.Spec) bool {
	if o, ok := other.(*Spec); ok {
		return s.dtype == o.dtype && s.shape.CompatibleWith(o.shape)
	}
	if c, ok := other.(tenon.Compatibler); ok {
		return c.CompatibleWith(s)
	}
	return false
}

// MergeWith joins the shapes of Specs with equal element types; a name stays if
// both have it.
func (s *Spec) MergeWith(other tenon.Spec) (tenon.Spec, bool) {
	o, ok := other.(*Spec)
	if !ok {
		if m, ok := other.(tenon.Merger); ok {
			return m.MergeWith(s)
		}
		return nil, false
	}
	if s.dtype != o.dtype {
		return nil, false
	}
	m := NewSpec(s.dtype, shape.Join(s.shape, o.shape))
	if s.Name() == o.Name() {
		m.name = s.name
	}
	return m, true
}

// Batched adds an outermost axis of size n.
func (s *Spec) Batched(n int) (tenon.Spec, error) {
	return &Spec{dtype: s.dtype, shape: s.shape.Insert(0, n), name: s.name}, nil
}

// Unbatched removes the outermost axis.
func (s *Spec) Unbatched() (tenon.Spec, error) {
	if s.shape.IsScalar() {
		return nil, tenon.NewError(tenon.ErrShape, "tensor.Spec.Unbatched", fmt.Sprintf("%v has no outer axis", s))
	}
	if !s.shape.HasRank() {
		return s, nil
	}
	return &Spec{dtype: s.dtype, shape: s.shape.Remove(0), name: s.name}, nil
}

// Box returns the tensor itself.
func (s *Spec) Box(v tenon.Value, minRank int) ([]tenon.Value, error) {
	if err := s.check(v); err != nil {
		return nil, err
	}
	if t, ok := v.(Tensor); !ok || t.Shape().HasRank() && t.Shape().Rank() < minRank {
		return nil, tenon.NewError(tenon.ErrShape, "tensor.Spec.Box", fmt.Sprintf("%v has a rank below %d", v.Spec(), minRank))
	}
	return []tenon.Value{v}, nil
}

// Unbox returns the tensor itself.
func (s *Spec) Unbox(tensors []tenon.Value) (tenon.Value, error) {
	if len(tensors) != 1 {
		return nil, tenon.NewError(tenon.ErrInvalid, "tensor.Spec.Unbox", fmt.Sprintf("got %d tensors, want 1", len(tensors)))
	}
	return tensors[0], s.check(tensors[0])
}

// String prints "float32[2, ?]", with the name in front where there is one.
func (s *Spec) String() string {
	t := s.dtype.String() + s.shape.String()
	if name := s.Name(); name != "" {
		return name + ": " + t
	}
	return t
}
