package ragged

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// EqualSpec compares the fields without encoding the Specs.
func (s *Spec) EqualSpec(other tenon.Spec) bool {
	o, ok := other.(*Spec)
	return ok && (s == o || tenon.Equal(s.flat, o.flat) && slices.EqualFunc(s.parts, o.parts, func(a, b *PartitionSpec) bool { return *a == *b }))
}

// unpartitioned returns the Spec of the flat values that s describes, if it
// describes nothing else.
func unpartitioned(s tenon.Spec) (tenon.Spec, bool) {
	switch s := s.(type) {
	case *Spec:
		return s.flat, len(s.parts) == 0
	case *tensor.Spec:
		return s, true
	}
	return nil, false
}

// SubtypeOf reports whether the flat values and every partition are subtypes. A
// Spec without partitions is equivalent to that of its flat values.
func (s *Spec) SubtypeOf(other tenon.Spec) bool {
	return s.related(other, tenon.Subtype, (*PartitionSpec).SubtypeOf)
}

// CompatibleWith reports whether the flat values and every partition are
// compatible.
func (s *Spec) CompatibleWith(other tenon.Spec) bool {
	return s.related(other, tenon.Compatible, (*PartitionSpec).CompatibleWith)
}

// related reports whether flat values and partitions are related to those of another Spec.
func (s *Spec) related(other tenon.Spec, flat func(a, b tenon.Spec) bool, part func(p *PartitionSpec, q tenon.Spec) bool) bool {
	if a, ok := unpartitioned(s); ok {
		b, ok := unpartitioned(other)
		return ok && flat(a, b)
	}
	o, ok := other.(*Spec)
	return ok && flat(s.flat, o.flat) && slices.EqualFunc(s.parts, o.parts, func(p, q *PartitionSpec) bool { return part(p, q) })
}

// MergeWith merges flat values and partitions one by one.
func (s *Spec) MergeWith(other tenon.Spec) (tenon.Spec, bool) {
	if b, ok := unpartitioned(other); ok && len(s.parts) == 0 {
		m, ok := tenon.Merge(s.flat, b)
		return &Spec{flat: m}, ok
	}
	return tenon.MergeByEncoding(s, other)
}
