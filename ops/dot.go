package ops

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// MatVec returns the products of matrices and vectors; leading axes broadcast.
//
//	a: […, m, k], x: […, k]  →  […, m]
//
// Gradient: ct⊗x for a, aᵀ·ct for x.
func MatVec(a, x any) tensor.Tensor {
	return op.Eval(matVecOp, a, x)
}

var matVecOp = op.Register(&op.Op{
	Name: "matvec", Statement: contracts, GoName: "ops.MatVec", Doc: "products of matrices and vectors", Results: 1, Strided: true,
	Params: []op.Param{{Name: "a", Group: 1, Takes: op.Numbers, Rank: 2}, {Name: "x", Group: 1, Rank: 1}},
	Shape: func(c *op.Call) (shape.Shape, error) {
		a, x := c.Tensor(0).Shape(), c.Tensor(1).Shape()
		m, k := matrixSizes(a, false)
		if err := sameSize(c, "sizes of the matrix's rows and the vector", k, x.Dim(-1)); err != nil {
			return a, err
		}
		if !a.HasRank() || !x.HasRank() {
			return shape.UnknownRank, nil
		}
		batch, err := broadcast(c, a.Slice(0, a.Rank()-2), x.Slice(0, x.Rank()-1))
		return shape.Concat(batch, shape.Of(m)), err
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		m := outShape(c, 0).Rank() - 1
		return c.Result(contractOwn(c, []int{m, m + 1}, []int{m + 1}, m))
	},
	Batch: func(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
		values := c.Values()
		column := ExpandDims(values[1], -1)
		y, err := batchAligned(tenon.Must(op.NewCall(matMulOp, values[0], column)), batched, 2)
		if err != nil {
			return nil, err
		}
		return c.Result(Squeeze(y[0], -1))
	},
})

var _ = gradient(matVecOp, func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
	a, x, g := c.Tensor(0), c.Tensor(1), ct[0]
	ga := Mul(ExpandDims(g, -1), ExpandDims(conj(x), -2))
	gx := Squeeze(MatMulT(conj(a), ExpandDims(g, -1), true, false), -1)
	return []tensor.Tensor{sumTo(ga, a), sumTo(gx, x)}
})

// Dot returns Σ x·y over the last axis; leading axes broadcast. It does not
// conjugate.
//
//	x: […, n], y: […, n]  →  […]
//
// Gradient: ct·y for x, ct·x for y.
func Dot(x, y any) tensor.Tensor { return op.Eval(dotOp, x, y) }

var dotOp = op.Register(&op.Op{
	Name: "dot", Statement: contracts, Doc: "sums of products over the last axis", Results: 1, Strided: true,
	Params: []op.Param{{Name: "x", Group: 1, Takes: op.Numbers, Rank: 1}, {Name: "y", Group: 1, Rank: 1}},
	Shape: func(c *op.Call) (shape.Shape, error) {
		x, y := c.Tensor(0).Shape(), c.Tensor(1).Shape()
		if err := sameSize(c, "sizes of the last axes", x.Dim(-1), y.Dim(-1)); err != nil {
			return x, err
		}
		return broadcastPrefix(c, x, y, 1)
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		summed := []int{outShape(c, 0).Rank()}
		return c.Result(contractOwn(c, summed, summed))
	},
	Batch: func(c *op.Call, batched []bool) ([]tensor.Tensor, error) { return batchAligned(c, batched, 1) },
})

var _ = gradient(dotOp, func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
	x, y := c.Tensor(0), c.Tensor(1)
	g := ExpandDims(ct[0], -1)
	return []tensor.Tensor{sumTo(Mul(g, conj(y)), x), sumTo(Mul(g, conj(x)), y)}
})
