package linalg

import (
	"math"
	"sync/atomic"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/par"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// wantMatrices checks that operand i consists of matrices of float32 or float64, and returns its
// shape, whose rank is known.
func wantMatrices(c *op.Call, i int) (shape.Shape, error) {
	x := c.Tensor(i)
	if d := x.DType(); d != dtype.Float32 && d != dtype.Float64 {
		return shape.Shape{}, c.Errorf(tenon.ErrDType, "%s has the element type %v, want float32 or float64", c.Op.Params[i].Name, d)
	}
	s := x.Shape()
	if s.HasRank() && s.Rank() < 2 {
		return s, c.Errorf(tenon.ErrShape, "%s has rank %d, at least 2 is needed", c.Op.Params[i].Name, s.Rank())
	}
	return s, nil
}

// wantSquare is wantMatrices for square matrices.
func wantSquare(c *op.Call, i int) (shape.Shape, error) {
	s, err := wantMatrices(c, i)
	if err != nil || !s.HasRank() {
		return s, err
	}
	if m, n := s.Dim(-2), s.Dim(-1); m >= 0 && n >= 0 && m != n {
		return s, c.Errorf(tenon.ErrShape, "the matrices of %s are not square: %d × %d", c.Op.Params[i].Name, m, n)
	}
	return s, nil
}

// lead returns the axes before the last two.
func lead(s shape.Shape) shape.Shape {
	if !s.HasRank() {
		return s
	}
	return s.Slice(0, s.Rank()-2)
}

// sizes returns the sizes of the last two axes.
func sizes(s shape.Shape) (rows, cols int) {
	if !s.HasRank() {
		return shape.Unknown, shape.Unknown
	}
	return s.Dim(-2), s.Dim(-1)
}

// lesser returns the smaller of two sizes, if it is known.
func lesser(m, n int) int {
	if m < 0 || n < 0 {
		return shape.Unknown
	}
	return min(m, n)
}

func specs(d dtype.DType, shapes ...shape.Shape) []tenon.Spec {
	out := make([]tenon.Spec, len(shapes))
	for i, s := range shapes {
		out[i] = tensor.NewSpec(d, s)
	}
	return out
}

func outShape(c *op.Call, i int) shape.Shape { return c.Out[i].(*tensor.Spec).Shape() }

// elements returns the elements of operand i as float64. They must not be
// changed.
func elements(c *op.Call, i int) []float64 {
	return tensor.Data[float64](ops.Cast(c.Dense(i), dtype.Float64))
}

// results makes a kernel's results from slices of float64.
func results(c *op.Call, data ...[]float64) ([]tensor.Tensor, error) {
	out := make([]tensor.Tensor, len(data))
	for i, x := range data {
		s := c.Out[i].(*tensor.Spec)
		out[i] = ops.Cast(tensor.Wrap(x, s.Shape()), s.DType())
	}
	return out, nil
}

// each calls f for each of n matrices, each taking about work multiplications, using several
// workers. f returns false if it fails for a matrix; each returns the number of the first such
// matrix, or -1.
func each(n, work int, f func(i int) bool) int {
	var bad atomic.Int64
	bad.Store(math.MaxInt64)
	par.For(n, max(1, 1<<16/max(1, work)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if f(i) {
				continue
			}
			for old := bad.Load(); int64(i) < old; old = bad.Load() {
				if bad.CompareAndSwap(old, int64(i)) {
					break
				}
			}
			return
		}
	})
	if b := bad.Load(); b < math.MaxInt64 {
		return int(b)
	}
	return -1
}

// refused returns the error for matrix i of an operand.
func refused(c *op.Call, operand, i int, what string) error {
	e := c.Errorf(tenon.ErrInvalid, "%s", what)
	if b := lead(c.Tensor(operand).Shape()); b.Rank() > 0 {
		e.Where = "matrix " + coordinates(b, i)
	}
	return e
}

func coordinates(s shape.Shape, i int) string {
	dims := s.Dims()
	for k := len(dims) - 1; k >= 0; k-- {
		dims[k], i = i%dims[k], i/dims[k]
	}
	return shape.Of(dims...).String()
}

// stretch returns, for each index of batch, the number of the corresponding matrix of an operand
// with leading axes own.
func stretch(own, batch shape.Shape) []int {
	n := own.Size()
	index := make([]int64, n)
	for i := range index {
		index[i] = int64(i)
	}
	all := tensor.Data[int64](ops.BroadcastTo(tensor.Wrap(index, own), batch))
	out := make([]int, len(all))
	for i, k := range all {
		out[i] = int(k)
	}
	return out
}

// broadcastLead returns the broadcast leading axes of two operands.
func broadcastLead(c *op.Call, s, t shape.Shape) (shape.Shape, error) {
	b, err := shape.Broadcast(lead(s), lead(t))
	if err != nil {
		return b, c.Errorf(tenon.ErrShape, "%v", err)
	}
	return b, nil
}

// again is the Batch rule of operations on one operand: a batch axis is just
// another leading axis.
func again(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
	return c.DoTensors()
}

// againAligned is the Batch rule of operations on two operands whose leading axes broadcast:
// batched ones get axes of size 1 after the batch axis until both have the same number.
func againAligned(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
	values := c.Values()
	var own [2]int
	for i, v := range values {
		r := v.(tensor.Tensor).Shape().Rank()
		if r < 0 {
			return nil, c.Errorf(tenon.ErrShape, "the rank of a batched operand is not known")
		}
		if own[i] = r; batched[i] {
			own[i]--
		}
	}
	most := max(own[0], own[1])
	for i, v := range values {
		if batched[i] && own[i] < most {
			axes := make([]int, most-own[i])
			for k := range axes {
				axes[k] = k + 1
			}
			values[i] = ops.ExpandDims(v, axes...)
		}
	}
	return c.WithValues(values).DoTensors()
}

// sumTo sums a cotangent over the axes in which x was stretched.
func sumTo(ct, x tensor.Tensor) tensor.Tensor {
	if s := x.Shape(); s.IsFull() && s.Equal(ct.Shape()) {
		return ct
	}
	return ops.SumTo(ct, ops.Shape(x))
}

// orZero returns a cotangent, or zeros like y if it is nil.
func orZero(ct, y tensor.Tensor) tensor.Tensor {
	if ct == nil {
		return ops.ZerosLike(y)
	}
	return ct
}

// Products for the formulas of gradients.
func mul(a, b tensor.Tensor) tensor.Tensor     { return ops.MatMul(a, b) }
func mulT(a, b tensor.Tensor) tensor.Tensor    { return ops.MatMulT(a, b, false, true) }
func tMul(a, b tensor.Tensor) tensor.Tensor    { return ops.MatMulT(a, b, true, false) }
func transposed(a tensor.Tensor) tensor.Tensor { return ops.SwapAxes(a, -1, -2) }

// scaleRows multiplies row i of a by s[i], and scaleColumns column i.
func scaleRows(s, a tensor.Tensor) tensor.Tensor    { return ops.Mul(ops.ExpandDims(s, -1), a) }
func scaleColumns(a, s tensor.Tensor) tensor.Tensor { return ops.Mul(a, ops.ExpandDims(s, -2)) }

func symmetric(a tensor.Tensor) tensor.Tensor {
	return ops.Mul(ops.Add(a, transposed(a)), 0.5)
}
