package structured

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

var (
	_ tenon.Boxer = (*Spec)(nil)
	_ tenon.Boxer = (*UnionSpec)(nil)
	_ tenon.Boxer = (*MapSpec)(nil)
	_ tenon.Boxer = (*DictionarySpec)(nil)
	_ tenon.Boxer = (*HeldSpec)(nil)
)

// Box returns the value itself, since operations can stack, slice and take apart records.
func (s *Spec) Box(v tenon.Value, minRank int) ([]tenon.Value, error) {
	return tensor.Box(s, v, minRank)
}

// Unbox returns the value itself.
func (s *Spec) Unbox(tensors []tenon.Value) (tenon.Value, error) { return tensor.Unbox(s, tensors) }

// Box returns the value itself, since operations can stack, slice and take apart dictionaries.
func (s *DictionarySpec) Box(v tenon.Value, minRank int) ([]tenon.Value, error) {
	return tensor.Box(s, v, minRank)
}

// Unbox returns the value itself.
func (s *DictionarySpec) Unbox(tensors []tenon.Value) (tenon.Value, error) {
	return tensor.Unbox(s, tensors)
}

// Box returns the value itself, since operations can stack, slice and take apart held values.
func (s *HeldSpec) Box(v tenon.Value, minRank int) ([]tenon.Value, error) {
	return tensor.Box(s, v, minRank)
}

// Unbox returns the value itself.
func (s *HeldSpec) Unbox(tensors []tenon.Value) (tenon.Value, error) { return tensor.Unbox(s, tensors) }
