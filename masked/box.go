package masked

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/shape"
)

var _ tenon.Boxer = (*Spec)(nil)

// Box returns the tensor itself: masked tensors stack, slice and come apart by the
// operations on them. One of an unknown rank has every rank.
func (s *Spec) Box(v tenon.Value, minRank int) ([]tenon.Value, error) {
	t, ok := v.(*Tensor)
	if !ok || !tenon.Compatible(s, t.Spec()) {
		return nil, tenon.NewError(tenon.ErrDType, "masked.Spec.Box", fmt.Sprintf("the value does not belong to %v", s))
	}
	if sh := t.Shape(); minRank > shape.MaxRank || sh.HasRank() && sh.Rank() < minRank {
		return nil, tenon.NewError(tenon.ErrShape, "masked.Spec.Box", fmt.Sprintf("%v has fewer than %d dimensions", s, minRank))
	}
	return []tenon.Value{t}, nil
}

// Unbox returns the tensor itself.
func (s *Spec) Unbox(tensors []tenon.Value) (tenon.Value, error) {
	if len(tensors) != 1 {
		return nil, tenon.NewError(tenon.ErrInvalid, "masked.Spec.Unbox", fmt.Sprintf("got %d tensors, want 1", len(tensors)))
	}
	t, ok := tensors[0].(*Tensor)
	if !ok || !tenon.Compatible(s, t.Spec()) {
		return nil, tenon.NewError(tenon.ErrDType, "masked.Spec.Unbox", fmt.Sprintf("the value does not belong to %v", s))
	}
	return t, nil
}
