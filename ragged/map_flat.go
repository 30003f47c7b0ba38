package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// MapFlatValues calls a function of plain tensors with the flat values of ragged ones, which must
// have the same rows, and returns its result with these rows. Dense arguments are passed to the
// function unchanged.
//
//	f: [nvals, a…] → [nvals, b…]; xs: [n, (m), a…] → [n, (m), b…]. Gradient: that of f.
func MapFlatValues(f func(flat ...tensor.Tensor) tensor.Tensor, xs ...tensor.Tensor) (y tensor.Tensor, err error) {
	const fn = "ragged.MapFlatValues"
	defer tenon.Catch(&err)
	var first *Tensor
	flats := make([]tensor.Tensor, len(xs))
	for i, x := range xs {
		r, ok := x.(*Tensor)
		if !ok {
			flats[i] = x
			continue
		}
		flats[i] = r.flat
		if first == nil {
			first = r
			continue
		}
		if len(r.parts) != len(first.parts) {
			return nil, invalid(fn, "xs["+itoa(i)+"]", "has %d partitions, the first ragged tensor %d", len(r.parts), len(first.parts))
		}
		samePartitions(fn, first.parts, r.parts)
	}
	if first == nil {
		return f(flats...), nil
	}
	out := f(flats...)
	tenon.Throw(checkValues(fn, out, first.parts[len(first.parts)-1]))
	return first.with(out), nil
}
