package sparse

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

var (
	_ tenon.Boxer = (*Spec)(nil)
	_ tenon.Boxer = (*MatrixSpec)(nil)
)

// Box returns the tensor itself, since operations can stack, slice and take apart sparse tensors.
// Each may have a different number of values.
func (s *Spec) Box(v tenon.Value, minRank int) ([]tenon.Value, error) {
	return tensor.Box(s, v, minRank)
}

// Unbox returns the tensor itself.
func (s *Spec) Unbox(tensors []tenon.Value) (tenon.Value, error) { return tensor.Unbox(s, tensors) }

// Box returns the matrix as a tensor in coordinate form, which operations can stack, slice and take
// apart.
func (s *MatrixSpec) Box(v tenon.Value, minRank int) ([]tenon.Value, error) {
	if m, ok := v.(*Matrix); ok && m.spec.byColumns == s.byColumns {
		v = m.coo()
	}
	return tensor.Box(NewSpec(s.dtype, s.shape), v, minRank)
}

// Unbox returns the matrix with its entries sorted.
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
