package sparse

import (
	"fmt"

	"github.com/tenonml/tenon"
)

var _ tenon.Boxer = (*Spec)(nil)

// Box returns the tensor itself: sparse tensors stack, slice and come apart by the
// operations on them. Each has its own number of values.
func (s *Spec) Box(v tenon.Value, minRank int) ([]tenon.Value, error) {
	t, ok := v.(*Tensor)
	if !ok || !tenon.Compatible(s, t.spec) {
		return nil, tenon.NewError(tenon.ErrDType, "sparse.Spec.Box", fmt.Sprintf("the value does not belong to %v", s))
	}
	if r := t.spec.shape.Rank(); r < minRank {
		return nil, tenon.NewError(tenon.ErrShape, "sparse.Spec.Box", fmt.Sprintf("%v has fewer than %d dimensions", t.spec, minRank))
	}
	return []tenon.Value{t}, nil
}

// Unbox returns the tensor itself.
func (s *Spec) Unbox(tensors []tenon.Value) (tenon.Value, error) {
	if len(tensors) != 1 {
		return nil, tenon.NewError(tenon.ErrInvalid, "sparse.Spec.Unbox", fmt.Sprintf("got %d tensors, want 1", len(tensors)))
	}
	t, ok := tensors[0].(*Tensor)
	if !ok || !tenon.Compatible(s, t.spec) {
		return nil, tenon.NewError(tenon.ErrDType, "sparse.Spec.Unbox", fmt.Sprintf("the value does not belong to %v", s))
	}
	return t, nil
}
