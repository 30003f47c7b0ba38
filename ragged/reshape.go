package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Reshape returns the elements of x, in order, with another shape.
func Reshape(x tensor.Tensor, s *Shape) (y tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	flat, _ := split(x)
	var n tensor.Tensor
	if k := len(s.parts); k > 0 {
		n = s.parts[k-1].NVals()
		if a, b := known(n), flat.Shape().Size(); a >= 0 && b >= 0 && s.inner.Tail(1).Size() >= 0 && a*s.inner.Tail(1).Size() != b {
			return nil, invalid("ragged.Reshape", "shape", "has %d elements, the tensor %d", a*s.inner.Tail(1).Size(), b)
		}
	}
	return build(ops.Reshape(flat, s.InnerSizes()), s.parts), nil
}
