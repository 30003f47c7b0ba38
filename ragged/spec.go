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
// partitions. Without partitions it describes the flat values alone; unbatching
// a Spec of ragged rank 1 gives such a one, whose batch is ragged again.
type Spec struct {
	flat  tenon.Spec
	parts []*PartitionSpec
}

// NewSpec returns the Spec of tensors with a static shape and ragged rank:
// sizes of partitioned dimensions below the first that are known are uniform.
// The splits are of type splits (None: int64).
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

// SplitsDType returns the type of the splits; Int64 where there are none.
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
	dims := []int{s.parts[0].nrows}
	for _, p := range s.parts {
		dims = append(dims, p.length)
	}
	return shape.Concat(shape.Of(dims...), inner.Tail(min(1, inner.Rank())))
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
	t, err := tenon.Elems(e, 2)
	if err != nil {
		return nil, err
	}
	flat, err := tenon.As[tenon.SpecOf](t[0])
	if err != nil {
		return nil, err
	}
	if flat.Spec == nil {
		return nil, tenon.NewError(tenon.ErrInvalid, "ragged.Spec", "there is no Spec of the flat values")
	}
	l, err := tenon.As[tenon.List](t[1])
	if err != nil {
		return nil, err
	}
	s := &Spec{flat: flat.Spec}
	for i, x := range l {
		o, err := tenon.As[tenon.SpecOf](x)
		if err != nil {
			return nil, err
		}
		p, ok := o.Spec.(*PartitionSpec)
		if !ok || i > 0 && p.dtype != s.parts[0].dtype {
			return nil, tenon.NewError(tenon.ErrInvalid, "ragged.Spec", fmt.Sprintf("partition %d is no partition with splits like the others'", i))
		}
		s.parts = append(s.parts, p)
	}
	return s, nil
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
		return nil, tenon.NewError(tenon.ErrDType, "ragged.Spec.Disassemble", "the value is no tensor")
	}
	flat, parts := split(t)
	if len(parts) != len(s.parts) {
		return nil, tenon.NewError(tenon.ErrDType, "ragged.Spec.Disassemble", fmt.Sprintf("%s has not the ragged rank of %v", tenon.String(v.Spec()), s))
	}
	out := []tenon.Value{flat}
	for _, p := range parts {
		out = append(out, p)
	}
	return out, nil
}

// Assemble makes a tensor and checks that its parts fit each other.
func (s *Spec) Assemble(components []tenon.Value) (tenon.Value, error) {
	if err := tenon.CheckComponents(s, components); err != nil {
		return nil, err
	}
	flat, ok := components[0].(tensor.Tensor)
	if !ok {
		return nil, tenon.NewError(tenon.ErrDType, "ragged.Spec.Assemble", "the flat values are no tensor")
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
	t.spec = t.spec.with(s)
	return t, nil
}

// with returns what s and o, which are compatible, know together.
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

// EqualSpec compares without encoding.
func (s *Spec) EqualSpec(other tenon.Spec) bool {
	o, ok := other.(*Spec)
	return ok && (s == o || tenon.Equal(s.flat, o.flat) && slices.EqualFunc(s.parts, o.parts, func(a, b *PartitionSpec) bool { return *a == *b }))
}

// unpartitioned returns the Spec of flat values that s describes, if that is all.
func unpartitioned(s tenon.Spec) (tenon.Spec, bool) {
	switch s := s.(type) {
	case *Spec:
		return s.flat, len(s.parts) == 0
	case *tensor.Spec:
		return s, true
	}
	return nil, false
}

// SubtypeOf: flat values and every partition are subtypes. A Spec without
// partitions is one of its flat values.
func (s *Spec) SubtypeOf(other tenon.Spec) bool {
	if a, ok := unpartitioned(s); ok {
		b, ok := unpartitioned(other)
		return ok && tenon.Subtype(a, b)
	}
	o, ok := other.(*Spec)
	if !ok || len(o.parts) != len(s.parts) || !tenon.Subtype(s.flat, o.flat) {
		return false
	}
	for i, p := range s.parts {
		if !p.SubtypeOf(o.parts[i]) {
			return false
		}
	}
	return true
}

// CompatibleWith: flat values and every partition are compatible.
func (s *Spec) CompatibleWith(other tenon.Spec) bool {
	if a, ok := unpartitioned(s); ok {
		b, ok := unpartitioned(other)
		return ok && tenon.Compatible(a, b)
	}
	o, ok := other.(*Spec)
	if !ok || len(o.parts) != len(s.parts) || !tenon.Compatible(s.flat, o.flat) {
		return false
	}
	for i, p := range s.parts {
		if !p.CompatibleWith(o.parts[i]) {
			return false
		}
	}
	return true
}

// MergeWith merges flat values and partitions one by one.
func (s *Spec) MergeWith(other tenon.Spec) (tenon.Spec, bool) {
	o, ok := other.(*Spec)
	if !ok {
		if b, ok := unpartitioned(other); ok && len(s.parts) == 0 {
			m, ok := tenon.Merge(s.flat, b)
			return &Spec{flat: m}, ok
		}
		return nil, false
	}
	if len(o.parts) != len(s.parts) {
		return nil, false
	}
	flat, ok := tenon.Merge(s.flat, o.flat)
	if !ok {
		return nil, false
	}
	m := &Spec{flat: flat}
	for i, p := range s.parts {
		q, ok := p.MergeWith(o.parts[i])
		if !ok {
			return nil, false
		}
		m.parts = append(m.parts, q.(*PartitionSpec))
	}
	return m, true
}

// Batched adds an outermost dimension of size n. The dimension below it is uniform
// where its size is known, and ragged otherwise.
func (s *Spec) Batched(n int) (tenon.Spec, error) {
	sh := s.Shape()
	if len(s.parts) == 0 && sh.IsScalar() {
		b, ok := s.flat.(tenon.Batcher)
		if !ok {
			return nil, tenon.NewError(tenon.ErrUnsupported, "ragged.Spec.Batched", fmt.Sprintf("%s cannot be batched", tenon.String(s.flat)))
		}
		return b.Batched(n)
	}
	below := shape.Unknown
	if sh.HasRank() {
		below = sh.Dim(0)
	}
	p, err := NewPartitionSpec(s.SplitsDType(), n, shape.Unknown, below)
	if err != nil {
		return nil, err
	}
	out := &Spec{parts: []*PartitionSpec{p}}
	m := p.nvals
	for _, q := range s.parts {
		q = &PartitionSpec{dtype: q.dtype, nrows: m, nvals: shape.Unknown, length: q.length, uniform: q.uniform}
		if err := q.check(); err != nil {
			return nil, err
		}
		out.parts = append(out.parts, q)
		m = q.nvals
	}
	out.flat, err = relaxTo(s.flat, m)
	return out, err
}

// Unbatched removes the outermost dimension. A Spec of ragged rank 1 becomes
// one of ragged rank 0.
func (s *Spec) Unbatched() (tenon.Spec, error) {
	if len(s.parts) == 0 {
		b, ok := s.flat.(tenon.Batcher)
		if !ok {
			return nil, tenon.NewError(tenon.ErrUnsupported, "ragged.Spec.Unbatched", fmt.Sprintf("%s has no rows", tenon.String(s.flat)))
		}
		row, err := b.Unbatched()
		return &Spec{flat: row}, err
	}
	rest := s.parts[1:]
	if len(rest) == 0 {
		flat, err := relaxTo(s.flat, s.parts[0].length)
		return &Spec{flat: flat}, err
	}
	out := &Spec{}
	m := s.parts[0].length
	for _, q := range rest {
		q = &PartitionSpec{dtype: q.dtype, nrows: m, nvals: shape.Unknown, length: q.length, uniform: q.uniform}
		if err := q.check(); err != nil {
			return nil, err
		}
		out.parts = append(out.parts, q)
		m = q.nvals
	}
	flat, err := relaxTo(s.flat, m)
	out.flat = flat
	return out, err
}

// relaxTo replaces the size of the outermost dimension.
func relaxTo(flat tenon.Spec, n int) (tenon.Spec, error) {
	b, ok := flat.(tenon.Batcher)
	if !ok {
		return nil, tenon.NewError(tenon.ErrUnsupported, "ragged.Spec.Unbatched", fmt.Sprintf("%s cannot be batched", tenon.String(flat)))
	}
	row, err := b.Unbatched()
	if err != nil {
		return nil, err
	}
	return row.(tenon.Batcher).Batched(n)
}

// Box returns the tensor itself: rows of any length stack and slice by the
// operations on ragged tensors.
func (s *Spec) Box(v tenon.Value, minRank int) ([]tenon.Value, error) {
	if err := s.accepts("ragged.Spec.Box", v); err != nil {
		return nil, err
	}
	if t := v.(tensor.Tensor); t.Shape().HasRank() && t.Shape().Rank() < minRank {
		return nil, tenon.NewError(tenon.ErrShape, "ragged.Spec.Box", fmt.Sprintf("%s has a rank below %d", tenon.String(v.Spec()), minRank))
	}
	return []tenon.Value{v}, nil
}

// Unbox returns the tensor itself.
func (s *Spec) Unbox(tensors []tenon.Value) (tenon.Value, error) {
	if len(tensors) != 1 {
		return nil, tenon.NewError(tenon.ErrInvalid, "ragged.Spec.Unbox", fmt.Sprintf("got %d tensors, want 1", len(tensors)))
	}
	return tensors[0], s.accepts("ragged.Spec.Unbox", tensors[0])
}

// accepts checks that v may be a value of s.
func (s *Spec) accepts(fn string, v tenon.Value) error {
	if _, ok := v.(tensor.Tensor); ok && tenon.Compatible(s, v.Spec()) {
		return nil
	}
	got := "nil"
	if v != nil {
		got = tenon.String(v.Spec())
	}
	return tenon.NewError(tenon.ErrDType, fn, fmt.Sprintf("got %s, want %v", got, s))
}

// String prints the shape with "~" for ragged dimensions: "float32[3, ~, 2]".
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
