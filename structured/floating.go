package structured

import "github.com/tenonml/tenon"

// FloatingFields returns the tensor with only the floating-point and complex fields, which are
// those that gradients have.
func (t *Tensor) FloatingFields() tenon.Value {
	var cols []column
	for _, c := range t.cols {
		if s, ok := c.v().(*Tensor); ok {
			c = c.with(s.FloatingFields().(*Tensor))
		} else if d := c.v().DType(); !d.IsFloat() && !d.IsComplex() {
			continue
		}
		cols = append(cols, c)
	}
	return newTensor(t.rank, t.nrows, t.parts, cols, t.dtype)
}
