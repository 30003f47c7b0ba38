package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Batched adds an outermost dimension of size n. The dimension below it is uniform if its size is
// known, and ragged otherwise.
func (s *Spec) Batched(n int) (tenon.Spec, error) {
	sh := s.Shape()
	if len(s.parts) == 0 && sh.IsScalar() {
		b, ok := s.flat.(tenon.Batcher)
		if !ok {
			return nil, failed(tenon.ErrUnsupported, "ragged.Spec.Batched", "", "%s cannot be batched", tenon.String(s.flat))
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
	return s.divided([]*PartitionSpec{p}, s.parts, p.nvals)
}

// divided returns the Spec of the flat values divided by outer partitions and, below their n
// values, by those of another Spec.
func (s *Spec) divided(outer, below []*PartitionSpec, n int) (tenon.Spec, error) {
	out := &Spec{parts: outer}
	for _, q := range below {
		q = &PartitionSpec{dtype: q.dtype, nrows: n, nvals: shape.Unknown, length: q.length, uniform: q.uniform}
		if err := q.check(); err != nil {
			return nil, err
		}
		out.parts, n = append(out.parts, q), q.nvals
	}
	var err error
	out.flat, err = relaxTo(s.flat, n)
	return out, err
}

// Unbatched removes the outermost dimension. A Spec of ragged rank 1 becomes
// one of ragged rank 0.
func (s *Spec) Unbatched() (tenon.Spec, error) {
	if len(s.parts) == 0 {
		b, ok := s.flat.(tenon.Batcher)
		if !ok {
			return nil, failed(tenon.ErrUnsupported, "ragged.Spec.Unbatched", "", "%s has no rows", tenon.String(s.flat))
		}
		row, err := b.Unbatched()
		return &Spec{flat: row}, err
	}
	return s.divided(nil, s.parts[1:], s.parts[0].length)
}

// relaxTo replaces the size of the outermost dimension.
func relaxTo(flat tenon.Spec, n int) (tenon.Spec, error) {
	b, ok := flat.(tenon.Batcher)
	if !ok {
		return nil, failed(tenon.ErrUnsupported, "ragged.Spec.Unbatched", "", "%s cannot be batched", tenon.String(flat))
	}
	row, err := b.Unbatched()
	if err != nil {
		return nil, err
	}
	return row.(tenon.Batcher).Batched(n)
}

// Box returns the tensor itself, since operations can stack and slice rows of any
// length.
func (s *Spec) Box(v tenon.Value, minRank int) ([]tenon.Value, error) {
	return tensor.Box(s, v, minRank)
}

// Unbox returns the tensor itself.
func (s *Spec) Unbox(tensors []tenon.Value) (tenon.Value, error) { return tensor.Unbox(s, tensors) }
