package ragged

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

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
