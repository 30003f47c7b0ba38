package ragged

import "github.com/tenonml/tenon/tensor"

var _ tensor.Carrier = (*Tensor)(nil)

// Carried returns the flat values, and the number of dimensions that the rows
// form.
func (t *Tensor) Carried() (items tensor.Tensor, axes int) { return t.flat, len(t.parts) + 1 }

// Carry returns a tensor with the same rows over other flat values.
func (t *Tensor) Carry(items tensor.Tensor) (tensor.Tensor, error) { return t.WithFlatValues(items) }
