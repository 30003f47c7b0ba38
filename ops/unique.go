package ops

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/sorting"
	"github.com/tenonml/tenon/internal/kernel/str"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

var uniqueOp = op.Register(&op.Op{
	Name: "unique", Statement: op.Statement{Axes: op.Opaque, Missing: op.Refuse, Places: op.Second | op.Fourth, Counts: op.Third, Why: "the number of results depends on the elements"}, Doc: "The distinct elements of a vector in the order of their first appearance.",
	Params: unaryParams, Results: 4,
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		x := c.Tensor(0)
		if s := x.Shape(); s.HasRank() && s.Rank() != 1 {
			return nil, c.Errorf(tenon.ErrShape, "x has the shape %v, want a vector", s).WithHint("flatten it with ops.Reshape(x, []int{-1})")
		}
		open := shape.Of(shape.Unknown)
		return []tenon.Spec{tensor.NewSpec(x.DType(), open), tensor.NewSpec(dtype.Int64, shape.Of(x.Shape().Dim(0))),
			tensor.NewSpec(dtype.Int64, open), tensor.NewSpec(dtype.Int64, open)}, nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		x := c.Tensor(0)
		inverse := tensor.Uninit(dtype.Int64, shape.Of(x.Shape().Size()))
		firsts, counts := distinct(tensor.Elems[int64](inverse), x)
		first := tensor.Vector(firsts)
		var values tensor.Tensor
		if s, ok := x.(*tensor.Strings); ok {
			values = move.Strings(s, first)
		} else {
			values = taken(x.(*tensor.Dense), first, first.Shape(), 0)
		}
		return []tensor.Tensor{values, inverse, tensor.Vector(counts), first}, nil
	},
})

var _ = gradient(uniqueOp, func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
	x := c.Tensor(0)
	return []tensor.Tensor{known(SegmentSum(ct[0], out[3], sizeOperand(x, 0)), x.Shape())}
})

// Unique returns the distinct elements of a vector in the order of their first
// appearance, the number of the distinct element that each element of x equals,
// how often each occurs, and where it occurs first. All NaNs count as one value,
// and so do both zeros.
//
//	x: [n] → [m], int64[n], int64[m], int64[m], any element type.
//	Gradient: the cotangent of the first result where each value occurs first.
func Unique(x any) (values, inverse, counts, first tensor.Tensor) {
	out := op.EvalN(uniqueOp, x)
	return out[0], out[1], out[2], out[3]
}

// distinct finds the distinct elements of a vector.
func distinct(inverse []int64, x tensor.Tensor) (first, counts []int64) {
	switch x := x.(type) {
	case *tensor.Strings:
		return str.Unique(inverse, move.Column(x))
	case *tensor.Dense:
		if x.DType().IsBool() {
			return sorting.Unique(inverse, sorting.Bytes(tensor.Elems[bool](x)))
		}
		return byType[x.DType()].unique(inverse, x)
	}
	return nil, nil
}
