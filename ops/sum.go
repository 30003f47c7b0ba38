package ops

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/reduce"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/reducing"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Sum returns Σ x over the given axes, or over all if none is given. The sum of no elements is 0.
// Integers keep their type and wrap, even small ones, as in TensorFlow (cast to int64 first, or use
// the sums of package structured, which are wide); booleans are counted in int64; floats are summed
// so that the error does not grow with the length.
//
//	x: […]  →  x's shape without the axes
//
// Gradient: the cotangent, repeated along the axes.
func Sum(x any, axes ...int) tensor.Tensor { return evalReduction(sumOp, x, axes, false) }

// SumKeep is [Sum] with the reduced axes kept with size 1.
func SumKeep(x any, axes ...int) tensor.Tensor { return evalReduction(sumOp, x, axes, true) }

var sumOp = simpleReduction(op.Op{Name: "reduce_sum", Statement: sums, GoName: "ops.Sum", Doc: "sum over axes"}, gradOfSum, summedType,
	func(d dtype.DType) reduce.Func { return sumOf(d) })

func gradOfSum(_ *op.Call, g reducing.Groups, _, _, ct tensor.Tensor) tensor.Tensor {
	return g.Spread(ct)
}

func summedType(d dtype.DType) dtype.DType {
	if d == dtype.Bool {
		return dtype.Int64
	}
	return d
}

func sumOf(d dtype.DType) reduce.Func {
	if d == dtype.Bool {
		return reduce.Of(reduce.CountNonzero, d)
	}
	return reduce.Of(reduce.Sum, d)
}

// vjpReduction returns the VJP of a reduction over axes.
func vjpReduction(f reducing.Gradient) func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
	return func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
		x := c.Tensor(0)
		g := reducedAxes{c, x, out[0], c.Ints(reduceAxis), c.Bool(reduceKeep)}
		return []tensor.Tensor{f(c, g, x, out[0], ct[0])}
	}
}

// reducedAxes are the groups of elements of a reduction over axes.
type reducedAxes struct {
	c    *op.Call
	x, y tensor.Tensor
	axes []int
	keep bool
}

func (g reducedAxes) Spread(y tensor.Tensor) tensor.Tensor { return spread(y, g.x, g.axes, g.keep) }
func (g reducedAxes) Count() any                           { return reducedCount(g.x, g.y, g.axes) }
func (g reducedAxes) Others() tensor.Tensor                { return others(g.c, g.x, g.axes) }

func (g reducedAxes) Reduce(by *op.Op, x tensor.Tensor) tensor.Tensor {
	return op.Eval(by, x, g.axes, g.keep)
}

// spread repeats y, a reduction over axes, to the shape of x.
func spread(y, x tensor.Tensor, axes []int, keep bool) tensor.Tensor {
	return op.Eval(spreadOp, y, Shape(x), axes, keep)
}

// Spread is the adjoint of [Sum]: it repeats y, a reduction over axes of a
// tensor of the given shape, along those axes. No axes means all. shape is a
// list of integers or an integer vector.
//
// Gradient: Sum over the axes.
func Spread(y, shape any, axes ...int) tensor.Tensor {
	return op.Eval(spreadOp, y, shape, axes, false)
}

var spreadOp = op.Register(&op.Op{
	Name: "spread", Statement: moves(op.Broadcast, two), Doc: "repeats a reduction along the axes that were reduced",
	Params: []op.Param{
		{Name: "y", Takes: op.NumbersBools}, sizesParam("shape"),
		{Name: "axis", Kind: op.Attr, Type: op.IntsType, Optional: true},
		{Name: "keepdims", Kind: op.Attr, Type: op.BoolType, Default: false},
	},
	Results: 1, Strided: true,
	Shape: func(c *op.Call) (shape.Shape, error) {
		s, err := shapeFrom(c, 1)
		if err != nil {
			return s, err
		}
		axes, known, err := c.SortedAxes(s)
		if err != nil || !known {
			return s, err
		}
		if y, want := c.Tensor(0).Shape(), op.Reduced(s, axes, c.Bool(3)); !y.CompatibleWith(want) {
			return s, c.Errorf(tenon.ErrShape, "a reduction of %v over axes %v has shape %v, not %v", s, axes, want, y)
		}
		return s, nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		y, s := c.Dense(0), outShape(c, 0)
		axes, _, err := c.SortedAxes(s)
		if err != nil {
			return nil, err
		}
		strides := make([]int, s.Rank())
		own := y.Strides()
		k := 0
		for i := range strides {
			reduced := contains(axes, i, s.Rank())
			if !reduced {
				strides[i] = own[k]
			}
			if !reduced || c.Bool(3) {
				k++
			}
		}
		return c.Result(y.View(0, s, strides))
	},
})

func init() {
	spreadOp.Batch = func(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
		n := c.Tensor(1).Shape().Dim(0)
		if batched[1] || n < 0 {
			return nil, op.NotHandled
		}
		rows, sizes := rowsOf(c.Tensor(0)), c.Tensor(1)
		return c.Result(op.Eval(spreadOp, c.Value(0), prepended(rows, sizes), shiftAxes(c.Ints(2), n+1), c.Bool(3)))
	}
	spreadOp.VJP = func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
		return []tensor.Tensor{op.Eval(sumOp, ct[0], c.Ints(2), c.Bool(3)), nil}
	}
}

// SumTo is the adjoint of broadcasting: it sums x over the axes in which a tensor of
// the given shape would be stretched to x's shape. shape is a list of integers or
// an integer vector, and broadcasts to x's shape.
//
// Gradient: the cotangent, broadcast to x's shape.
func SumTo(x, shape any) tensor.Tensor { return op.Eval(sumToOp, x, shape) }

var sumToOp = op.Register(&op.Op{
	Name: "sum_to", Statement: op.Statement{Axes: op.Reduce, Monoid: op.Sums, Missing: op.Skip, Control: two, Zero: movedZero}, Doc: "sums over the axes that broadcasting to x's shape stretches",
	Params:  []op.Param{{Name: "x", Takes: op.NumbersBools}, sizesParam("shape")},
	Results: 1,
	Elem:    keeping(func(d dtype.DType) bool { return reduce.Of(reduce.Sum, d) != nil }),
	Shape: func(c *op.Call) (shape.Shape, error) {
		x := c.Tensor(0).Shape()
		s, err := shapeFrom(c, 1)
		if err != nil {
			return s, err
		}
		if b, err := broadcast(c, x, s); err != nil || !b.CompatibleWith(x) {
			return s, c.Errorf(tenon.ErrShape, "%v does not broadcast to %v", s, x)
		}
		return s, nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		x, s := c.Dense(0), outShape(c, 0)
		if s.Equal(x.Shape()) {
			return c.Result(x)
		}
		off := x.Rank() - s.Rank()
		var axes []int
		for i := range x.Rank() {
			if i < off || s.Dim(i-off) == 1 && x.Dim(i) != 1 {
				axes = append(axes, i)
			}
		}
		return c.Result(reduceDense(reduce.Of(reduce.Sum, x.DType()), x, axes, s, x.DType()))
	},
})

func init() {
	sumToOp.Batch = func(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
		x, n := c.Tensor(0), c.Tensor(1).Shape().Dim(0)
		if batched[1] || n < 0 {
			return nil, op.NotHandled
		}
		rank, err := batchRank(c, x)
		if err != nil {
			return nil, err
		}
		rows := rowsOf(x)
		x = op.Eval(sumOp, x, span(1, rank-n), false) // axes that the shape lacks
		return c.Result(SumTo(x, prepended(rows, c.Tensor(1))))
	}
	sumToOp.VJP = func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
		return []tensor.Tensor{BroadcastTo(ct[0], Shape(c.Tensor(0))), nil}
	}
}
