package ragged

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// ShapeTypeName is the registered name of [*ShapeSpec].
const ShapeTypeName = "ragged.Shape"

// ShapeSpec describes run-time shapes: the Specs of the partitions, what is known about the flat
// values' sizes, and the type of splits and sizes.
type ShapeSpec struct {
	parts []*PartitionSpec
	inner shape.Shape // its rank is known
	dtype dtype.DType
}

var (
	_ tenon.Value   = (*Shape)(nil)
	_ tenon.Batcher = (*ShapeSpec)(nil)
	_ tenon.Boxer   = (*ShapeSpec)(nil)
)

// Spec returns the *ShapeSpec. Like that of a ragged tensor, it does not depend
// on the lengths of ragged rows.
func (s *Shape) Spec() tenon.Spec {
	inner := s.inner
	var specs []*PartitionSpec
	if len(s.parts) > 0 {
		specs = make([]*PartitionSpec, len(s.parts))
		inner = inner.With(0, partitionSpecs(specs, s.parts))
	}
	return &ShapeSpec{specs, inner, s.dtype}
}

// DType returns the type of splits and sizes.
func (s *ShapeSpec) DType() dtype.DType { return s.dtype }

// Partitions returns the Specs of the partitions, outermost first.
func (s *ShapeSpec) Partitions() []*PartitionSpec { return slices.Clone(s.parts) }

// Inner returns what is known about the flat values' sizes.
func (s *ShapeSpec) Inner() shape.Shape { return s.inner }

// TypeName returns "ragged.Shape".
func (*ShapeSpec) TypeName() string { return ShapeTypeName }

// Encode returns (dtype, inner, [partition…]).
func (s *ShapeSpec) Encode() tenon.Encoding {
	l := make(tenon.List, len(s.parts))
	for i, p := range s.parts {
		l[i] = tenon.SpecOf{Spec: p}
	}
	return tenon.Tuple{tenon.DType{DType: s.dtype}, tenon.Shape{Shape: s.inner}, l}
}

func decodeShape(e tenon.Encoding) (tenon.Spec, error) {
	var d tenon.DType
	var inner tenon.Shape
	var l tenon.List
	if err := tenon.Unpack(e, &d, &inner, &l); err != nil {
		return nil, err
	}
	s := &ShapeSpec{inner: inner.Shape, dtype: d.DType}
	bad := func(format string, args ...any) error {
		return failed(tenon.ErrInvalid, "ragged.ShapeSpec", "", format, args...)
	}
	if s.dtype != dtype.Int64 && s.dtype != dtype.Int32 {
		return nil, bad("sizes are int64 or int32, not %v", s.dtype)
	}
	if !s.inner.HasRank() || len(l) > 0 && s.inner.Rank() == 0 {
		return nil, bad("flat values of shape %v have no partitions", s.inner)
	}
	for i, x := range l {
		p, ok := partSpec(x)
		if !ok || p.dtype != s.dtype {
			return nil, bad("partition %d does not have %v splits", i, s.dtype)
		}
		s.parts = append(s.parts, p)
	}
	return s, nil
}

func init() { tenon.Register(ShapeTypeName, decodeShape) }

// Components returns the partitions, outermost first, and the flat values' sizes.
func (s *ShapeSpec) Components() []tenon.Field {
	fields := make([]tenon.Field, 0, len(s.parts)+1)
	for i, p := range s.parts {
		fields = append(fields, tenon.Field{Name: fmt.Sprintf("partition_%d", i), Spec: p})
	}
	return append(fields, tenon.Field{Name: "inner_sizes", Spec: tensor.NewSpec(s.dtype, shape.Of(s.inner.Rank()))})
}

// Disassemble returns the partitions and the flat values' sizes.
func (s *ShapeSpec) Disassemble(v tenon.Value) ([]tenon.Value, error) {
	x, ok := v.(*Shape)
	if !ok || !tenon.Compatible(s, x.Spec()) {
		return nil, failed(tenon.ErrDType, "ragged.ShapeSpec.Disassemble", "", "the value does not belong to %v", s)
	}
	return tenon.Try(func() []tenon.Value {
		out := make([]tenon.Value, 0, len(x.parts)+1)
		for _, p := range x.parts {
			out = append(out, p)
		}
		return append(out, x.InnerSizes())
	})
}

// Assemble makes a shape and checks that its parts match.
func (s *ShapeSpec) Assemble(components []tenon.Value) (v tenon.Value, err error) {
	defer tenon.Catch(&err)
	tenon.Throw(tenon.CheckComponents(s, components))
	parts := make([]*RowPartition, len(s.parts))
	for i := range parts {
		parts[i] = components[i].(*RowPartition)
	}
	sizes := components[len(parts)].(tensor.Tensor)
	x := tenon.Must(NewShape(parts, sizes))
	if x.inner, err = shape.Merge(x.inner, s.inner); err != nil {
		return nil, invalid("ragged.ShapeSpec.Assemble", "inner_sizes", "%v", err)
	}
	if _, ok := op.Known(sizes); !ok && x.sizes == nil && !x.inner.IsFull() {
		x.sizes = sizes
	}
	return x, nil
}

// String returns "shape[3, ~, 2]".
func (s *ShapeSpec) String() string {
	flat := &Spec{flat: tensor.NewSpec(s.dtype, s.inner), parts: s.parts}
	text := flat.String()
	return "shape" + text[strings.IndexByte(text, '['):]
}
