package masked

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

var _ tenon.Boxer = (*Spec)(nil)

// Box returns the tensor itself, since operations can stack, slice and take apart masked tensors. A
// tensor of unknown rank is accepted for any minRank.
func (s *Spec) Box(v tenon.Value, minRank int) ([]tenon.Value, error) {
	return tensor.Box(s, v, minRank)
}

// Unbox returns the tensor itself.
func (s *Spec) Unbox(tensors []tenon.Value) (tenon.Value, error) { return tensor.Unbox(s, tensors) }
