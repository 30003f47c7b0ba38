package ragged

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// FromSlices returns the tensor whose rows are those of a slice of slices. The
// elements are copied into one buffer; rows may be nil.
func FromSlices[T dtype.Native](x [][]T) (*Tensor, error) {
	splits, n := sliceSplits(x)
	var flat tensor.Tensor
	if dtype.Of[T]() == dtype.String {
		flat = tensor.Of(joined(make([]T, n), x))
	} else {
		d := tensor.NewDense(dtype.Of[T](), shape.Of(n))
		joined(tensor.Data[T](d), x)
		flat = d
	}
	return wrap(flat, []*RowPartition{newPartition(splits, n)}), nil
}

// sliceSplits returns the row splits of slices and the number of their elements.
func sliceSplits[T any](x [][]T) (*tensor.Dense, int) {
	d, s := tensor.Make[int64](shape.Of(len(x) + 1))
	n := int64(0)
	for i, row := range x {
		n += int64(len(row))
		s[i+1] = n
	}
	return rows.Trusted(d, s), int(n)
}

func joined[T any](out []T, x [][]T) []T {
	at := 0
	for _, row := range x {
		at += copy(out[at:], row)
	}
	return out
}

