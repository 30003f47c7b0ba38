package structured

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

var _ ragged.Records = (*Tensor)(nil)

// Numbers returns a tensor with the records' dimensions that holds the number of each
// record, int64. Whatever chooses, groups or joins entries of a tensor does so with
// records by way of their numbers and [Tensor.AtNumbers].
func (t *Tensor) Numbers() tensor.Tensor { return t.numbers() }

// AtNumbers returns the records with the given numbers, in the dimensions of these.
// Missing numbers give missing records: a tensor of package masked.
func (t *Tensor) AtNumbers(numbers tensor.Tensor) (out tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	m, ok := numbers.(*masked.Tensor)
	if !ok {
		return byNumbers(t.rows(), numbers, t.dtype), nil
	}
	at := m.Values()
	if m.Mask().Shape().Rank() == at.Shape().Rank() {
		at = ops.Where(m.Mask(), at, int64(0))
	}
	return masked.New(byNumbers(t.rows(), at, t.dtype), m.Mask())
}
