package masked

import (
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// For lists, these operations work element by element: a list is missing if it is missing in an
// operand.

// truth returns where a boolean operand is certainly true, and where it is certainly false.
func truth(x tensor.Tensor) (yes, no tensor.Tensor) {
	t, ok := x.(*Tensor)
	if !ok {
		return x, ops.LogicalNot(x)
	}
	full, v := t.Full(), t.single().values
	return ops.LogicalAnd(full, v), ops.LogicalAnd(full, ops.LogicalNot(v))
}

func known(yes, no tensor.Tensor, masks []tensor.Tensor) *Tensor {
	return over(masks, wrap(yes, ops.LogicalOr(yes, no))).(*Tensor)
}

// And is the conjunction of three-valued logic: false if one operand is false,
// even if the other is missing.
func And(x, y tensor.Tensor) *Tensor {
	bare, masks := bareOf(x, y)
	xy, xn := truth(bare[0])
	yy, yn := truth(bare[1])
	return known(ops.LogicalAnd(xy, yy), ops.LogicalOr(xn, yn), masks)
}

// Or is the disjunction of three-valued logic: true if one operand is true, even
// if the other is missing.
func Or(x, y tensor.Tensor) *Tensor {
	bare, masks := bareOf(x, y)
	xy, xn := truth(bare[0])
	yy, yn := truth(bare[1])
	return known(ops.LogicalOr(xy, yy), ops.LogicalAnd(xn, yn), masks)
}

// Not is the negation of three-valued logic: missing stays missing.
func Not(x tensor.Tensor) *Tensor {
	bare, masks := bareOf(x)
	yes, no := truth(bare[0])
	return known(no, yes, masks)
}
