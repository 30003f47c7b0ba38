package masked

import (
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// truth takes a boolean operand apart: where it is surely true, and where surely false.
func truth(x tensor.Tensor) (yes, no tensor.Tensor) {
	t, ok := x.(*Tensor)
	if !ok {
		return x, ops.LogicalNot(x)
	}
	full := t.Full()
	return ops.LogicalAnd(full, t.values), ops.LogicalAnd(full, ops.LogicalNot(t.values))
}

func known(yes, no tensor.Tensor) *Tensor { return wrap(yes, ops.LogicalOr(yes, no)) }

// And is the conjunction of three-valued logic: false if one operand is false,
// even if the other is missing.
func And(x, y tensor.Tensor) *Tensor {
	xy, xn := truth(x)
	yy, yn := truth(y)
	return known(ops.LogicalAnd(xy, yy), ops.LogicalOr(xn, yn))
}

// Or is the disjunction of three-valued logic: true if one operand is true, even
// if the other is missing.
func Or(x, y tensor.Tensor) *Tensor {
	xy, xn := truth(x)
	yy, yn := truth(y)
	return known(ops.LogicalOr(xy, yy), ops.LogicalAnd(xn, yn))
}

// Not is the negation of three-valued logic: missing stays missing.
func Not(x tensor.Tensor) *Tensor {
	yes, no := truth(x)
	return known(no, yes)
}
