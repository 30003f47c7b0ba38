package masked

import "github.com/tenonml/tenon/tensor"

var _ tensor.Carrier = (*Tensor)(nil)

// Carried returns the values, including filler, and the number of axes of the
// mask.
func (t *Tensor) Carried() (items tensor.Tensor, axes int) { return t.values, t.mask.Shape().Rank() }

// Carry returns other values with the same mask.
func (t *Tensor) Carry(items tensor.Tensor) (tensor.Tensor, error) {
	if err := check("masked.Carry", items, t.mask); err != nil {
		return nil, err
	}
	return wrap(items, t.mask), nil
}
