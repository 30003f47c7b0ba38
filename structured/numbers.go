package structured

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

var _ ragged.Records = (*Tensor)(nil)

// AtNumbers returns the records with the given numbers, with the dimensions of the numbers. Missing
// numbers give missing records, in a tensor of package masked. A number that no record has is an
// error that names its position.
func (t *Tensor) AtNumbers(numbers tensor.Tensor) (out tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	at := numbers
	switch m, ok := numbers.(optional); {
	case ok && t.lacksRecords():
		at = masked.Compress(m)
	case ok:
		at = numbered(m)
	}
	t.checkNumbers(at)
	return t.atNumbers(numbers), nil
}

// numbered returns the numbers in a masked tensor, with 0 for missing ones.
func numbered(m optional) tensor.Tensor {
	if m.Mask().Shape().Rank() == m.Values().Shape().Rank() {
		return ops.Where(m.Mask(), m.Values(), int64(0))
	}
	return m.Values()
}

// atNumbers is AtNumbers for numbers that are known to be valid.
func (t *Tensor) atNumbers(numbers tensor.Tensor) tensor.Tensor {
	if m, ok := numbers.(optional); ok {
		rows := t.rows()
		if t.lacksRecords() {
			rows = oneFiller(rows)
		}
		return tenon.Must(masked.New(byNumbers(rows, numbered(m), t.dtype), m.Mask()))
	}
	return byNumbers(t.rows(), numbers, t.dtype)
}

// lacksRecords reports whether t is known to have no records.
func (t *Tensor) lacksRecords() bool { return t.rank > 0 && known(t.count()) == 0 }

// oneFiller gives columns without entries one entry that stands for missing ones.
func oneFiller(cols []column) []column {
	return eachColumn(cols, func(v tensor.Tensor) tensor.Tensor {
		return tenon.Must(ragged.PadMissing(v, 1, 0, ragged.PadOptions{})).(optional).Values()
	})
}

// checkNumbers throws an error if a number is out of range, if the numbers are known: fields may be
// gathered much later.
func (t *Tensor) checkNumbers(numbers tensor.Tensor) {
	if r, ok := numbers.(divided); ok {
		numbers = r.FlatValues()
	}
	n := 1
	if t.rank > 0 {
		n = known(t.count())
	}
	d, ok := numbers.(*tensor.Dense)
	if !ok || d.DType() != dtype.Int64 || n < 0 {
		return
	}
	for i, k := range tensor.Data[int64](d) {
		if k < 0 || k >= int64(n) {
			tenon.Throw(invalid("structured.AtNumbers", fmt.Sprintf("numbers[%d]", i), "is %d, there are %d records", k, n))
		}
	}
}
