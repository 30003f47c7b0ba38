package ops

import (
	"math"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

func rangeLen[T dtype.Real](start, limit, delta *tensor.Dense) (int64, error) {
	return segment.RangeSplits(make([]int64, 2), tensor.Elems[T](start), tensor.Elems[T](limit), tensor.Elems[T](delta))
}

func rangeFill[T dtype.Real](out, start, delta *tensor.Dense) {
	segment.Range(tensor.Elems[T](out), []int64{0, int64(out.Len())}, tensor.Elems[T](start), tensor.Elems[T](delta))
}

var rangeOp = op.Register(&op.Op{
	Name: "range", Statement: op.Statement{Axes: op.Create, Control: op.Every, Missing: op.Refuse}, Doc: "Numbers in equal steps.",
	Params: []op.Param{{Name: "start", Group: 1, Takes: op.Reals, Rank: op.Scalar}, {Name: "limit", Group: 1, Rank: op.Scalar}, {Name: "delta", Group: 1, Rank: op.Scalar}}, Results: 1,
	Shape: func(c *op.Call) (shape.Shape, error) {
		var bounds [3]*tensor.Dense
		for i := range bounds {
			t, ok := c.Const(i)
			if !ok {
				return shape.Of(shape.Unknown), nil
			}
			bounds[i] = move.RowMajor(t.(*tensor.Dense))
		}
		n, err := byType[c.Tensor(0).DType()].rangeLen(bounds[0], bounds[1], bounds[2])
		if err != nil {
			return shape.Shape{}, c.Errorf(tenon.ErrInvalid, "%v", err)
		}
		return shapeOf(c, []int{int(n)})
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		out := tensor.Uninit(c.Tensor(0).DType(), outShape(c, 0))
		byType[out.DType()].rangeFill(out, c.Dense(0), c.Dense(2))
		return c.Result(out)
	},
})

var _ = gradient(rangeOp, func(_ *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
	g := ct[0]
	step := Cast(Range(0, sizeOperand(g, 0), 1), g.DType())
	return []tensor.Tensor{Sum(g), nil, Sum(Mul(g, step))}
})

// Range returns start, start+delta, … up to, but not including, limit. All three are scalars of one
// element type. A step of zero is an error.
//
//	start, limit, delta: [] → [max(0, ⌈(limit-start)/delta⌉)], real numbers.
//	Gradient: for start the sum of the cotangent, for delta the sum weighted by position.
func Range(start, limit, delta any) tensor.Tensor { return op.Eval(rangeOp, start, limit, delta) }

var linspaceOp = op.Register(&op.Op{
	Name: "linspace", Statement: op.Statement{Axes: op.Create, Control: op.Every, Missing: op.Refuse}, GoName: "ops.LinSpace", Doc: "Evenly spaced numbers between two ends.",
	Params: []op.Param{{Name: "start", Group: 1, Takes: op.Reals, Rank: op.Scalar}, {Name: "stop", Group: 1, Rank: op.Scalar}, sizeParam("num")}, Results: 1,
	Elem: floating,
	Shape: func(c *op.Call) (shape.Shape, error) {
		n, err := count(c, 2)
		return shape.Of(n), err
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		s := outShape(c, 0)
		a := tensor.Item[float64](castDense(c.Dense(0), dtype.Float64))
		b := tensor.Item[float64](castDense(c.Dense(1), dtype.Float64))
		out, x := tensor.Make[float64](s)
		last := float64(len(x) - 1)
		for i := range x {
			// Both ends are exact, and large ends of opposite sign do not overflow.
			t := float64(i) / math.Max(last, 1)
			x[i] = a*(1-t) + b*t
		}
		return c.Result(castDense(out, c.Out[0].(*tensor.Spec).DType()))
	},
})

var _ = gradient(linspaceOp, func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
	g := ct[0]
	t := Cast(LinSpace(0.0, 1.0, c.Value(2)), g.DType())
	return []tensor.Tensor{Sum(Mul(g, Sub(1, t))), Sum(Mul(g, t)), nil}
})

// LinSpace returns num equally spaced numbers, the first of which is start and the last stop; a
// single one is start. num is an integer or a scalar tensor.
//
//	start, stop: [], num: int[] → [num], real numbers; integers give float64.
//	Gradient: the cotangent weighted by the distance from the other end.
func LinSpace(start, stop, num any) tensor.Tensor { return op.Eval(linspaceOp, start, stop, num) }

// Indexing is the order of the axes of [Meshgrid]'s results.
type Indexing string

// The orders of axes.
const (
	IndexingIJ Indexing = "ij" // one axis for each vector, in order
	IndexingXY Indexing = "xy" // the first two swapped, like the rows and columns of an image
)

// Meshgrid returns the coordinates of the points of a grid: result i repeats vector
// i along the axes of all others. The results are views.
//
//	values: [n₀], [n₁], … → for IndexingIJ, as many of [n₀, n₁, …], any element type.
func Meshgrid(indexing Indexing, values ...any) []tensor.Tensor {
	if indexing != IndexingIJ && indexing != IndexingXY {
		tenon.Throw(tenon.NewError(tenon.ErrInvalid, "ops.Meshgrid", "indexing is "+string(indexing)+", want ij or xy"))
	}
	rank := len(values)
	along := make([]int, rank) // the axis of each vector
	for i := range along {
		along[i] = i
	}
	if indexing == IndexingXY && rank > 1 {
		along[0], along[1] = 1, 0
	}
	vs, dims := make([]tensor.Tensor, rank), make([]any, rank)
	for i, v := range values {
		vs[i] = Reshape(v, []int{-1})
		dims[along[i]] = Index(Shape(vs[i]), key.All)
	}
	out := make([]tensor.Tensor, rank)
	for i, v := range vs {
		one := slices.Repeat([]int{1}, rank)
		one[along[i]] = -1
		out[i] = BroadcastTo(Reshape(v, one), Concat(dims, 0))
	}
	return out
}
