package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// The batch of the shapes of some tensors is the shape of the batch of these tensors. Therefore a
// shape is represented by a boolean tensor of that shape, which can be stacked, sliced and taken
// apart like any tensor.

// tensors returns the Spec of the tensors that represent shapes.
func (s *ShapeSpec) tensors() tenon.Batcher {
	flat := tensor.NewSpec(dtype.Bool, s.inner)
	if len(s.parts) == 0 {
		return flat
	}
	return &Spec{flat: flat, parts: s.parts}
}

// ofTensors returns the Spec of the shapes of tensors.
func (s *ShapeSpec) ofTensors(of tenon.Spec, err error) (tenon.Spec, error) {
	if err != nil {
		return nil, err
	}
	if r, ok := of.(*Spec); ok {
		return &ShapeSpec{r.parts, r.flat.(*tensor.Spec).Shape(), s.dtype}, nil
	}
	return &ShapeSpec{nil, of.(*tensor.Spec).Shape(), s.dtype}, nil
}

// Batched returns the Spec of the shape of a batch of n tensors.
func (s *ShapeSpec) Batched(n int) (tenon.Spec, error) { return s.ofTensors(s.tensors().Batched(n)) }

// Unbatched returns the Spec of the shape of a row.
func (s *ShapeSpec) Unbatched() (tenon.Spec, error) {
	if len(s.parts) == 0 && s.inner.Rank() == 0 {
		return nil, tenon.NewError(tenon.ErrShape, "ragged.ShapeSpec.Unbatched", "the shape of a scalar has no rows")
	}
	return s.ofTensors(s.tensors().Unbatched())
}

// Box returns a tensor with the shape.
func (s *ShapeSpec) Box(v tenon.Value, minRank int) (out []tenon.Value, err error) {
	defer tenon.Catch(&err)
	x, ok := v.(*Shape)
	if !ok || !tenon.Compatible(s, x.Spec()) {
		return nil, failed(tenon.ErrDType, "ragged.ShapeSpec.Box", "", "the value does not belong to %v", s)
	}
	if x.Rank() < minRank {
		return nil, failed(tenon.ErrShape, "ragged.ShapeSpec.Box", "", "%v has fewer than %d dimensions", s, minRank)
	}
	t, err := FromPartitions(ops.Zeros(dtype.Bool, x.InnerSizes()), x.parts...)
	return []tenon.Value{t}, err
}

// Unbox returns the shape of a tensor.
func (s *ShapeSpec) Unbox(tensors []tenon.Value) (v tenon.Value, err error) {
	defer tenon.Catch(&err)
	if len(tensors) != 1 {
		return nil, failed(tenon.ErrInvalid, "ragged.ShapeSpec.Unbox", "", "got %d tensors, want 1", len(tensors))
	}
	t, ok := tensors[0].(tensor.Tensor)
	if !ok {
		return nil, tenon.NewError(tenon.ErrDType, "ragged.ShapeSpec.Unbox", "the value is not a tensor")
	}
	return ShapeOf(t).WithDType(s.dtype)
}
