package ragged

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// TypeName is the registered name of [*Spec].
const TypeName = "ragged.Tensor"

// Spec describes ragged tensors: the Spec of the flat values and those of the
// partitions. Without partitions it describes only the flat values; unbatching a
// Spec of ragged rank 1 gives such a Spec, whose batch is ragged again.
type Spec struct {
	flat  tenon.Spec
	parts []*PartitionSpec
}

// NewSpec returns the Spec of tensors with a static shape and ragged rank. Known
// sizes of partitioned dimensions below the first make these uniform. The splits
// have type splits (None: int64).
func NewSpec(d dtype.DType, s shape.Shape, raggedRank int, splits dtype.DType) (*Spec, error) {
	if splits == dtype.None {
		splits = dtype.Int64
	}
	if !s.HasRank() {
		return nil, invalid("ragged.NewSpec", "shape", "has an unknown rank")
	}
	if raggedRank < 0 || raggedRank > 0 && raggedRank >= s.Rank() {
		return nil, invalid("ragged.NewSpec", "raggedRank", "%d does not fit shape %v", raggedRank, s)
	}
	out := &Spec{}
	n := shape.Unknown
	if s.Rank() > 0 {
		n = s.Dim(0)
	}
	for i := range raggedRank {
		p, err := NewPartitionSpec(splits, n, shape.Unknown, s.Dim(i+1))
		if err != nil {
			return nil, err
		}
		out.parts = append(out.parts, p)
		n = p.nvals
	}
	inner := s.Tail(raggedRank)
	if raggedRank > 0 {
		inner = inner.With(0, n)
	}
	out.flat = tensor.NewSpec(d, inner)
	return out, nil
}

// FromSpecs returns the Spec of flat values divided by partitions, outermost first.
func FromSpecs(flat tenon.Spec, parts []*PartitionSpec) *Spec {
	return &Spec{flat: flat, parts: slices.Clone(parts)}
}

type typed interface {
	DType() dtype.DType
	Shape() shape.Shape
}

// DType returns the element type of the flat values.
func (s *Spec) DType() dtype.DType {
	if t, ok := s.flat.(typed); ok {
		return t.DType()
	}
	return dtype.None
}

// Flat returns the Spec of the flat values.
func (s *Spec) Flat() tenon.Spec { return s.flat }

// Partitions returns the Specs of the partitions, outermost first.
func (s *Spec) Partitions() []*PartitionSpec { return slices.Clone(s.parts) }

// RaggedRank returns the number of partitions.
func (s *Spec) RaggedRank() int { return len(s.parts) }

// SplitsDType returns the type of the splits, or Int64 if there are none.
func (s *Spec) SplitsDType() dtype.DType {
	if len(s.parts) == 0 {
		return dtype.Int64
	}
	return s.parts[0].dtype
}

// Shape returns the static shape.
func (s *Spec) Shape() shape.Shape {
	inner := shape.UnknownRank
	if t, ok := s.flat.(typed); ok {
		inner = t.Shape()
	}
	if len(s.parts) == 0 || !inner.HasRank() {
		return inner
	}
	var room [8]int
	dims := append(room[:0], s.parts[0].nrows)
	for _, p := range s.parts {
		dims = append(dims, p.length)
	}
	return sizesOver(dims, inner)
}

// sizesOver returns the shape of flat values in rows with the given dimensions.
func sizesOver(dims []int, inner shape.Shape) shape.Shape {
	if inner.Rank() > 1 {
		dims = inner.Tail(1).AppendDims(dims)
	}
	return shape.Of(dims...)
}

// TypeName returns "ragged.Tensor".
func (*Spec) TypeName() string { return TypeName }

// Encode returns (flat, [partition…]).
func (s *Spec) Encode() tenon.Encoding {
	l := make(tenon.List, len(s.parts))
	for i, p := range s.parts {
		l[i] = tenon.SpecOf{Spec: p}
	}
	return tenon.Tuple{tenon.SpecOf{Spec: s.flat}, l}
}

func decodeSpec(e tenon.Encoding) (tenon.Spec, error) {
	var flat tenon.SpecOf
	var l tenon.List
	if err := tenon.Unpack(e, &flat, &l); err != nil {
		return nil, err
	}
	if flat.Spec == nil {
		return nil, tenon.NewError(tenon.ErrInvalid, "ragged.Spec", "there is no Spec of the flat values")
	}
	s := &Spec{flat: flat.Spec}
	for i, x := range l {
		p, ok := partSpec(x)
		if !ok || i > 0 && p.dtype != s.parts[0].dtype {
			return nil, failed(tenon.ErrInvalid, "ragged.Spec", "", "partition %d does not have splits like the others", i)
		}
		s.parts = append(s.parts, p)
	}
	return s, nil
}

// partSpec returns the Spec of a partition from its encoding.
func partSpec(e tenon.Encoding) (*PartitionSpec, bool) {
	o, _ := e.(tenon.SpecOf)
	p, ok := o.Spec.(*PartitionSpec)
	return p, ok
}

func init() { tenon.Register(TypeName, decodeSpec) }

// Components returns the flat values and then the partitions, outermost first.
func (s *Spec) Components() []tenon.Field {
	fields := []tenon.Field{{Name: "flat_values", Spec: s.flat}}
	for i, p := range s.parts {
		name := "partition"
		if len(s.parts) > 1 {
			name = fmt.Sprintf("partition_%d", i)
		}
		fields = append(fields, tenon.Field{Name: name, Spec: p})
	}
	return fields
}

// Disassemble returns the flat values and the partitions.
func (s *Spec) Disassemble(v tenon.Value) ([]tenon.Value, error) {
	t, ok := v.(tensor.Tensor)
	if !ok {
		return nil, tenon.NewError(tenon.ErrDType, "ragged.Spec.Disassemble", "the value is not a tensor")
	}
	flat, parts := split(t)
	if len(parts) != len(s.parts) {
		return nil, failed(tenon.ErrDType, "ragged.Spec.Disassemble", "", "%s does not have the ragged rank of %v", tenon.String(v.Spec()), s)
	}
	out := []tenon.Value{flat}
	for _, p := range parts {
		out = append(out, p)
	}
	return out, nil
}

// Assemble makes a tensor and checks that its parts match.
func (s *Spec) Assemble(components []tenon.Value) (tenon.Value, error) {
	if err := tenon.CheckComponents(s, components); err != nil {
		return nil, err
	}
	flat, ok := components[0].(tensor.Tensor)
	if !ok {
		return nil, tenon.NewError(tenon.ErrDType, "ragged.Spec.Assemble", "the flat values are not a tensor")
	}
	if len(s.parts) == 0 {
		return flat, nil
	}
	parts := make([]*RowPartition, len(s.parts))
	for i := range parts {
		parts[i] = components[i+1].(*RowPartition)
		if i > 0 {
			if n, m := parts[i-1].nvals, parts[i].spec.nrows; n >= 0 && m >= 0 && n != m {
				return nil, invalid("ragged.Spec.Assemble", fmt.Sprintf("partition_%d", i), "has %d rows, the one above it %d values", m, n)
			}
		}
	}
	if err := checkValues("ragged.Spec.Assemble", flat, parts[len(parts)-1]); err != nil {
		return nil, err
	}
	t := wrap(flat, parts)
	t.spec.Store(t.described().with(s))
	return t, nil
}

// with combines what s and o, which are compatible, know.
func (s *Spec) with(o *Spec) *Spec {
	if s.SubtypeOf(o) {
		return s
	}
	m := &Spec{flat: s.flat, parts: slices.Clone(s.parts)}
	if a, ok := s.flat.(*tensor.Spec); ok {
		if b, ok := o.flat.(*tensor.Spec); ok {
			if both, err := shape.Merge(a.Shape(), b.Shape()); err == nil {
				m.flat = tensor.NewSpec(a.DType(), both)
			}
		}
	}
	for i, p := range s.parts {
		if both, err := meet(p, o.parts[i]); err == nil {
			m.parts[i] = both
		}
	}
	return m
}

// String returns the shape with "~" for ragged dimensions: "float32[3, ~, 2]".
func (s *Spec) String() string {
	sh := s.Shape()
	if !sh.HasRank() {
		return fmt.Sprintf("ragged %v%v", s.DType(), sh)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%v[", s.DType())
	for i, d := range sh.Dims() {
		if i > 0 {
			b.WriteString(", ")
		}
		switch {
		case i > 0 && i <= len(s.parts) && !s.parts[i-1].uniform:
			b.WriteByte('~')
		case d < 0:
			b.WriteByte('?')
		default:
			fmt.Fprint(&b, d)
		}
	}
	b.WriteByte(']')
	return b.String()
}
