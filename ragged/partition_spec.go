package ragged

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// PartitionTypeName is the registered name of [*PartitionSpec].
const PartitionTypeName = "ragged.RowPartition"

// PartitionSpec describes row partitions: the type of their splits, the numbers
// of rows and values if they are known, and the row length if one is declared.
//
// A partition with a declared length has the components nrows and
// uniform_row_length, any other has row_splits.
type PartitionSpec struct {
	nrows   int
	nvals   int
	length  int
	dtype   dtype.DType
	uniform bool
}

// NewPartitionSpec returns a Spec of partitions with splits of type d (Int64 or
// Int32). Sizes may be shape.Unknown. A nonnegative length declares uniform rows.
// If two of the three numbers are given, the third is inferred; numbers that
// contradict each other are an error.
func NewPartitionSpec(d dtype.DType, nrows, nvals, length int) (*PartitionSpec, error) {
	s := &PartitionSpec{dtype: d, nrows: nrows, nvals: nvals, length: length, uniform: length >= 0}
	return s, s.check()
}

func (s *PartitionSpec) check() error {
	bad := func(format string, args ...any) error {
		return invalid("ragged.PartitionSpec", "", format, args...)
	}
	if s.dtype != dtype.Int64 && s.dtype != dtype.Int32 {
		return bad("row splits are int64 or int32, not %v", s.dtype)
	}
	for _, n := range []int{s.nrows, s.nvals, s.length} {
		if n < shape.Unknown {
			return bad("%d is not a size", n)
		}
	}
	if s.nrows == 0 {
		if s.nvals > 0 {
			return bad("no rows cannot hold %d values", s.nvals)
		}
		s.nvals = 0
	}
	if !s.uniform || s.length < 0 {
		return nil
	}
	if s.nrows >= 0 {
		if _, err := shape.Of(s.nrows, s.length).CheckedSize(1); err != nil {
			return bad("%d rows of %d do not fit in memory", s.nrows, s.length)
		}
	}
	switch {
	case s.nrows >= 0 && s.nvals < 0:
		s.nvals = s.nrows * s.length
	case s.length == 0 && s.nvals < 0:
		s.nvals = 0
	case s.nrows < 0 && s.nvals >= 0 && s.length > 0:
		if s.nvals%s.length != 0 {
			return bad("%d values are not rows of %d", s.nvals, s.length)
		}
		s.nrows = s.nvals / s.length
	case s.nrows >= 0 && s.nvals != s.nrows*s.length:
		return bad("%d rows of %d are not %d values", s.nrows, s.length, s.nvals)
	}
	return nil
}

// DType returns the type of splits.
func (s *PartitionSpec) DType() dtype.DType { return s.dtype }

// NRows returns the number of rows, or shape.Unknown.
func (s *PartitionSpec) NRows() int { return s.nrows }

// NVals returns the number of values, or shape.Unknown.
func (s *PartitionSpec) NVals() int { return s.nvals }

// IsUniform reports whether a common row length is declared, known or not.
func (s *PartitionSpec) IsUniform() bool { return s.uniform }

// UniformRowLength returns the declared row length, or shape.Unknown.
func (s *PartitionSpec) UniformRowLength() int { return s.length }

// TypeName returns "ragged.RowPartition".
func (*PartitionSpec) TypeName() string { return PartitionTypeName }

// Encode returns (dtype, shape[nrows, nvals], uniform, shape[length]).
func (s *PartitionSpec) Encode() tenon.Encoding {
	return tenon.Tuple{tenon.DType{DType: s.dtype}, tenon.Shape{Shape: shape.Of(s.nrows, s.nvals)}, tenon.Bool(s.uniform), tenon.Shape{Shape: shape.Of(s.length)}}
}

func decodePartition(e tenon.Encoding) (tenon.Spec, error) {
	var d tenon.DType
	var sizes, length tenon.Shape
	var uniform tenon.Bool
	if err := tenon.Unpack(e, &d, &sizes, &uniform, &length); err != nil {
		return nil, err
	}
	if sizes.Rank() != 2 || length.Rank() != 1 || !bool(uniform) && length.Dim(0) >= 0 {
		return nil, tenon.NewError(tenon.ErrInvalid, "ragged.PartitionSpec", "the encoding's sizes do not describe a partition")
	}
	s := &PartitionSpec{dtype: d.DType, nrows: sizes.Dim(0), nvals: sizes.Dim(1), length: length.Dim(0), uniform: bool(uniform)}
	return s, s.check()
}

func init() { tenon.Register(PartitionTypeName, decodePartition) }

// EqualSpec compares the fields without encoding the Specs.
func (s *PartitionSpec) EqualSpec(other tenon.Spec) bool {
	o, ok := other.(*PartitionSpec)
	return ok && *s == *o
}

// Components returns row_splits, or nrows and uniform_row_length.
func (s *PartitionSpec) Components() []tenon.Field {
	if s.uniform {
		one := tensor.NewSpec(s.dtype, shape.Shape{})
		return []tenon.Field{{Name: "nrows", Spec: one}, {Name: "uniform_row_length", Spec: one}}
	}
	n := s.nrows
	if n >= 0 {
		n++
	}
	return []tenon.Field{{Name: "row_splits", Spec: tensor.NewSpec(s.dtype, shape.Of(n))}}
}

// Disassemble returns the components of a partition. If s is not uniform, a
// uniform partition is disassembled to its splits.
func (s *PartitionSpec) Disassemble(v tenon.Value) ([]tenon.Value, error) {
	p, ok := v.(*RowPartition)
	if !ok || p.spec.dtype != s.dtype || s.uniform && p.uniform == nil {
		return nil, failed(tenon.ErrDType, "ragged.PartitionSpec.Disassemble", "", "the value does not belong to %v", s)
	}
	if s.uniform {
		return []tenon.Value{p.nrows, p.uniform}, nil
	}
	return []tenon.Value{p.RowSplits()}, nil
}

// Assemble makes a partition and checks its splits, if their elements exist.
func (s *PartitionSpec) Assemble(components []tenon.Value) (v tenon.Value, err error) {
	defer tenon.Catch(&err)
	tenon.Throw(tenon.CheckComponents(s, components))
	if s.uniform {
		nrows, length := components[0].(tensor.Tensor), components[1].(tensor.Tensor)
		tenon.Throw(checkUniform("ragged.PartitionSpec.Assemble", length, nrows))
		if s.length >= 0 && known(length) < 0 { // what the Spec knows need not be checked in a graph
			length = scalar(s.length, s.dtype)
		}
		if s.nrows >= 0 && known(nrows) < 0 {
			nrows = scalar(s.nrows, s.dtype)
		}
		return s.admit(assembleUniform(nrows, length))
	}
	splits := components[0].(tensor.Tensor)
	tenon.Throw(checkSplits("ragged.PartitionSpec.Assemble", splits, s.nvals))
	return s.admit(newPartition(splits, s.nvals))
}

// admit adds what s knows to a partition, if the two are compatible.
func (s *PartitionSpec) admit(p *RowPartition) (tenon.Value, error) {
	if p.nvals >= 0 && s.nvals >= 0 && p.nvals != s.nvals || !tenon.Compatible(p.spec, s) {
		return nil, invalid("ragged.PartitionSpec.Assemble", "", "the components make a %v, not a %v", p.spec, s)
	}
	if p.spec.SubtypeOf(s) {
		return p, nil
	}
	spec, err := meet(p.spec, s)
	if err != nil {
		return nil, err
	}
	p.spec, p.nvals = spec, max(p.nvals, spec.nvals)
	return p, nil
}

// SubtypeOf reports whether known numbers agree; uniform rows are a subtype of
// rows.
func (s *PartitionSpec) SubtypeOf(other tenon.Spec) bool {
	o, ok := other.(*PartitionSpec)
	sub := func(a, b int) bool { return b < 0 || a == b }
	return ok && s.dtype == o.dtype && sub(s.nrows, o.nrows) && sub(s.nvals, o.nvals) && (s.uniform || !o.uniform) && sub(s.length, o.length)
}

// CompatibleWith reports whether known numbers do not contradict each other.
func (s *PartitionSpec) CompatibleWith(other tenon.Spec) bool {
	o, ok := other.(*PartitionSpec)
	can := func(a, b int) bool { return a < 0 || b < 0 || a == b }
	return ok && s.dtype == o.dtype && can(s.nrows, o.nrows) && can(s.nvals, o.nvals) && can(s.length, o.length)
}

// MergeWith keeps the numbers that agree.
func (s *PartitionSpec) MergeWith(other tenon.Spec) (tenon.Spec, bool) {
	o, ok := other.(*PartitionSpec)
	if !ok || s.dtype != o.dtype {
		return nil, false
	}
	join := func(a, b int) int {
		if a == b {
			return a
		}
		return shape.Unknown
	}
	m := &PartitionSpec{dtype: s.dtype, nrows: join(s.nrows, o.nrows), nvals: join(s.nvals, o.nvals), length: join(s.length, o.length), uniform: s.uniform && o.uniform}
	return m, m.check() == nil
}

// String returns "rows[nrows × (length)] of nvals".
func (s *PartitionSpec) String() string {
	size := func(n int) string {
		if n < 0 {
			return "?"
		}
		return fmt.Sprint(n)
	}
	length := "~"
	if s.uniform {
		length = size(s.length)
	}
	return fmt.Sprintf("rows<%v>[%s, %s] of %s values", s.dtype, size(s.nrows), length, size(s.nvals))
}
