package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/tensor"
)

var _ tenon.Caster = (*Spec)(nil)

// WithRaggedRank returns the same rows with k partitions: axes of the flat values become uniform
// partitions, or uniform partitions become axes. With k = 0 the result is dense. Ragged dimensions
// need their partitions; a k that is too small for them is an error.
func WithRaggedRank(x tensor.Tensor, k int) (t tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	s := ShapeOf(x)
	flat, parts := split(x)
	if k == len(parts) {
		return x, nil
	}
	to, err := s.WithPartitions(k)
	if err != nil {
		return nil, inNameOf("ragged.WithRaggedRank", err)
	}
	return build(reshapeTo(flat, innerSizes(to), to.dtype), to.parts), nil
}

// CastSpec returns the Spec that values of s and of other can be cast to. It has as many partitions
// as the one with more of them, and int64 splits if one of them does. other must be a Spec of
// ragged or dense tensors with the same element type and rank.
func (s *Spec) CastSpec(other tenon.Spec) (tenon.Spec, bool) {
	a, ok := s.as(len(s.parts), s.SplitsDType())
	if !ok {
		return nil, false
	}
	b, ok := raggedSpec(other)
	if !ok || a.DType() != b.DType() {
		return nil, false
	}
	k, splits := max(len(a.parts), len(b.parts)), dtype.Int64
	if len(a.parts) > 0 && a.SplitsDType() == dtype.Int32 && (len(b.parts) == 0 || b.SplitsDType() == dtype.Int32) {
		splits = dtype.Int32
	}
	if a, ok = a.as(k, splits); !ok {
		return nil, false
	}
	if b, ok = b.as(k, splits); !ok {
		return nil, false
	}
	return tenon.Merge(a, b)
}

// raggedSpec returns the Spec of dense or ragged tensors as a Spec of ragged
// ones.
func raggedSpec(s tenon.Spec) (*Spec, bool) {
	switch s := s.(type) {
	case *Spec:
		return s, true
	case *tensor.Spec:
		return &Spec{flat: s}, true
	}
	return nil, false
}

// as returns the Spec of the same tensors with k partitions and the given type of
// splits.
func (s *Spec) as(k int, splits dtype.DType) (*Spec, bool) {
	if _, ok := s.flat.(*tensor.Spec); !ok || !s.Shape().HasRank() {
		return nil, false
	}
	out, err := NewSpec(s.DType(), s.Shape(), k, splits)
	return out, err == nil
}

// Cast returns a dense or ragged tensor as a value of s, with the partitions and the type of splits
// of s. Nothing is padded, truncated or computed.
func (s *Spec) Cast(v tenon.Value) (out tenon.Value, err error) {
	const fn = "ragged.Spec.Cast"
	defer tenon.Catch(&err)
	t, ok := v.(tensor.Tensor)
	if !ok || !taken(t) {
		return nil, failed(tenon.ErrUnsupported, fn, "", "%s cannot be cast to a ragged tensor", tenon.String(v.Spec()))
	}
	if tenon.Belongs(t, s) {
		return t, nil
	}
	t = tenon.Must(WithRaggedRank(t, len(s.parts)))
	if r, ok := t.(*Tensor); ok {
		t = tenon.Must(r.WithSplitsDType(s.SplitsDType()))
	}
	if !tenon.Compatible(s, t.Spec()) {
		return nil, failed(tenon.ErrUnsupported, fn, "", "%s cannot be cast to %v", tenon.String(v.Spec()), s)
	}
	return t, nil
}
