package howto

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

func Example_errorsA() {
	kind(func() tensor.Tensor {
		return ops.MatMul(ops.Ones(dtype.Float32, []int{2, 3}), ops.Ones(dtype.Float32, []int{2, 3}))
	})
	// Output:
	// shape error | ops.MatMul | inner sizes 3 and 2 differ | did you mean the second operand transposed?
}

func Example_errorsB() {
	kind(func() tensor.Tensor { return ops.Exp([]string{"a"}) })
	// Output:
	// type error | ops.Exp | the operation is not defined for elements of type string |
}

func Example_errorsC() {
	kind(func() tensor.Tensor { return ops.Sum([]float64{1, 2}, 1) })
	// Output:
	// axis error | ops.Sum | axis 1 is out of range for rank 1 ([2]) |
}

func Example_errorsD() {
	kind(func() tensor.Tensor { return ops.Index([]float64{1, 2}, 2) })
	// Output:
	// index out of range | ops.Index | position 2 is out of bounds for an axis of size 2 |
}

func Example_errorsE() {
	kind(func() tensor.Tensor { return orders().Path("orders.prize") })
	// Output:
	// not found | structured.Field | there is no field "prize", but ["cat" "price"] |
}

func Example_errorsF() {
	kind(func() tensor.Tensor {
		return ops.Index(ops.Eye(dtype.Float64, 2, 2), tensor.Of([]int64{0}), tensor.Of([]int64{1}))
	})
	// Output:
	// unsupported | ops.Index | several tensors among the keys | use ops.GatherND with their positions side by side, or one ops.Index after the other
}

func Example_errorsG() {
	kind(func() tensor.Tensor { return ops.Einsum("ij,jk->", []float64{1}) })
	// Output:
	// invalid argument | ops.Einsum | it has 2 terms for 1 operands |
}
