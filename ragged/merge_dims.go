package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// MergeDims merges the dimensions from outer to inner into one; negative ones count from the end.
//
//	x: [a, (b), c] with outer 0, inner 1 → [nvals, c]
func MergeDims(x tensor.Tensor, outer, inner int) (y tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	r := rankOf(x)
	for _, a := range []*int{&outer, &inner} {
		if *a < -r || *a >= r {
			return nil, invalid("ragged.MergeDims", "", "axis %d is out of range for rank %d", *a, r)
		}
		if *a < 0 {
			*a += r
		}
	}
	if outer > inner {
		return nil, invalid("ragged.MergeDims", "", "the outer dimension %d lies inside of the inner one, %d", outer, inner)
	}
	return merged(x, outer, inner), nil
}
