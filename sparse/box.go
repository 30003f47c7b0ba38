package sparse

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

var (
	_ tenon.Boxer = (*Spec)(nil)
	_ tenon.Boxer = (*MatrixSpec)(nil)
)

// Box returns the tensor itself: sparse tensors stack, slice and come apart by the
// operations on them. Each has its own number of values.
func (s *Spec) Box(v tenon.Value, minRank int) ([]tenon.Value, error) {
	return tensor.Box(s, v, minRank)
}

// Unbox returns the tensor itself.
func (s *Spec) Unbox(tensors []tenon.Value) (tenon.Value, error) { return tensor.Unbox(s, tensors) }

// Box returns the matrix as a tensor of coordinates, which stacks, slices and comes apart
// as all of them do.
func (s *MatrixSpec) Box(v tenon.Value, minRank int) ([]tenon.Value, error) {
	if m, ok := v.(*Matrix); ok && m.spec.byColumns == s.byColumns {
		v = m.coo()
	}
	return tensor.Box(NewSpec(s.dtype, s.shape), v, minRank)
}

// Unbox returns the matrix with its entries in order.
func (s *MatrixSpec) Unbox(tensors []tenon.Value) (tenon.Value, error) {
	v, err := tensor.Unbox(NewSpec(s.dtype, s.shape), tensors)
	if err != nil {
		return nil, err
	}
	m, err := compress("MatrixSpec.Unbox", v.(*Tensor), s.byColumns)
	if err != nil {
		return nil, err
	}
	return m, nil
}
