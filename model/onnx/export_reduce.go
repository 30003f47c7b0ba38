package onnx

import (
	"math"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
)

// axesOf returns the axes that a call reduces, counted from 0, and whether they are kept.
func axesOf(c *op.Call) (axes []int, keep bool) {
	axes, err := c.Axes(rank(c.Tensor(0)))
	tenon.Throw(err)
	slices.Sort(axes)
	return slices.Compact(axes), c.Bool(2)
}

// reduce writes a reduction.
func (e *node) reduce(operation string, types typeSet) string {
	axes, keep := axesOf(e.c)
	if len(axes) == 0 && e.ofRank(0) > 0 {
		return e.typed(operation, types, []string{e.in(0), e.vector()}, withFlag("keepdims", keep), withFlag("noop_with_empty_axes", true))
	}
	if len(axes) == 0 { // a scalar is treated as a vector of one element
		one := e.do("Unsqueeze", []string{e.in(0), e.vector(0)})
		return e.typed(operation, types, []string{one, e.vector(0)}, withFlag("keepdims", false))
	}
	return e.typed(operation, types, []string{e.in(0), e.vector(axes...)}, withFlag("keepdims", keep))
}

func reduced(operation string, types typeSet) func(e *node) string {
	return func(e *node) string { return e.reduce(operation, types) }
}

// over reduces a tensor along the axes of a call, which are kept or not.
func over(c *op.Call, x T, keep, drop reducer) T {
	axes, kept := axesOf(c)
	if len(axes) == 0 {
		x = ops.ExpandDims(x, 0)
		return drop(x, 0)
	}
	if kept {
		return keep(x, axes...)
	}
	return drop(x, axes...)
}

// meanOf is the mean of integers and booleans, in float64.
func meanOf(c *op.Call) T {
	return over(c, ops.Cast(c.Tensor(0), dtype.Float64), ops.MeanKeep, ops.Mean)
}

func truths(c *op.Call, keep, drop reducer) T {
	return ops.Cast(over(c, ops.Cast(c.Tensor(0), dtype.Int32), keep, drop), dtype.Bool)
}

func countNonzero(c *op.Call) T {
	x := c.Tensor(0)
	if x.DType() != dtype.Bool {
		x = ops.LogicalNot(ops.Equal(x, zeroOf(x)))
	}
	return over(c, ops.Cast(x, dtype.Int64), ops.SumKeep, ops.Sum)
}

// variance is the mean of squared differences from the mean, possibly with n - ddof instead of
// n.
func variance(c *op.Call) T {
	x := c.Tensor(0)
	if !x.DType().IsFloat() {
		x = ops.Cast(x, dtype.Float64)
	}
	axes, _ := axesOf(c)
	if len(axes) == 0 {
		zero := over(c, ops.Sub(x, x), ops.SumKeep, ops.Sum)
		return ops.Div(zero, like(float64(1-c.Int(3)), zero))
	}
	d := ops.Sub(x, ops.MeanKeep(x, axes...))
	square := ops.Mul(d, d)
	ddof := c.Int(3)
	if ddof == 0 {
		return over(c, square, ops.MeanKeep, ops.Mean)
	}
	n := ops.Sub(ops.Cast(count(x, axes), x.DType()), like(float64(ddof), x))
	return ops.Div(over(c, square, ops.SumKeep, ops.Sum), n)
}

// count is the number of elements along axes.
func count(x T, axes []int) T {
	return ops.Prod(ops.Gather(sizesOf(x), vector(axes), 0), 0)
}

// normed writes norms that ONNX has.
func normed(e *node) string {
	if !e.dtypeOf().IsFloat() {
		return ""
	}
	switch e.c.Float(3) {
	case 1:
		return e.reduce("ReduceL1", floating)
	case 2:
		return e.reduce("ReduceL2", floating)
	}
	return ""
}

func normOf(c *op.Call) T {
	x := c.Tensor(0)
	if !x.DType().IsFloat() {
		x = ops.Cast(x, dtype.Float64)
	}
	a, p := ops.Abs(x), c.Float(3)
	switch {
	case p == 1:
		return over(c, a, ops.SumKeep, ops.Sum)
	case p == 2:
		return ops.Sqrt(over(c, ops.Mul(a, a), ops.SumKeep, ops.Sum))
	case math.IsInf(p, 1):
		return ops.Maximum(over(c, a, ops.MaxKeep, ops.Max), like(0, a))
	}
	sum := over(c, ops.Pow(a, like(p, a)), ops.SumKeep, ops.Sum)
	return ops.Pow(sum, like(1/p, a))
}

// argOf writes positions of extremes, along one axis or among all elements.
func argOf(operation string) func(e *node) string {
	return func(e *node) string {
		axes, keep := axesOf(e.c)
		if len(axes) == 1 {
			return e.typed(operation, reals, []string{e.in(0)}, withInt("axis", axes[0]), withFlag("keepdims", keep))
		}
		if len(axes) != e.ofRank(0) || keep {
			refuse(tenon.ErrUnsupported, "ONNX's %s works along one axis, but the call has %v", operation, axes)
		}
		flat := e.do("Reshape", []string{e.in(0), e.vector(-1)})
		return e.typed(operation, reals, []string{flat}, withInt("axis", 0), withFlag("keepdims", false))
	}
}

func alongAxis(operation string, types typeSet) func(e *node) string {
	return func(e *node) string { return e.typed(operation, types, e.ins(), withInt("axis", e.c.Int(1))) }
}

func softmaxGrad(c *op.Call) T {
	y, ct, axis := c.Tensor(0), c.Tensor(1), c.Int(2)
	return ops.Mul(y, ops.Sub(ct, ops.SumKeep(ops.Mul(y, ct), axis)))
}

func logSoftmaxGrad(c *op.Call) T {
	y, ct, axis := c.Tensor(0), c.Tensor(1), c.Int(2)
	return ops.Sub(ct, ops.Mul(ops.Exp(y), ops.SumKeep(ct, axis)))
}

// running writes cumulative sums.
func running(e *node) string {
	axis := e.w.constant(vector([]int{e.c.Int(1)}))
	axis = e.do("Squeeze", []string{axis, e.vector(0)})
	return e.typed("CumSum", products, []string{e.in(0), axis}, withFlag("exclusive", e.c.Bool(2)), withFlag("reverse", e.c.Bool(3)))
}

// runs expresses an operation along an axis that combines each element with those before it, as
// a scan.
func runs(nothing func(x T) T, combine func(x, y any) T) func(c *op.Call) T {
	return func(c *op.Call) T {
		exclusive, reverse := c.Bool(2), c.Bool(3)
		return scanAxis([]T{c.Tensor(0)}, c.Int(1), reverse, nothing, func(before T, rows []T) (after, out T) {
			after = combine(before, rows[0])
			if exclusive {
				return after, before
			}
			return after, after
		})
	}
}

func linearScan(c *op.Call) T {
	return scanAxis([]T{c.Tensor(0), c.Tensor(1)}, c.Int(2), c.Bool(3), zeroOf, func(before T, rows []T) (after, out T) {
		after = ops.Add(ops.Mul(rows[0], before), rows[1])
		return after, after
	})
}

// scanAxis runs a step over the slices of tensors along an axis.
func scanAxis(xs []T, axis int, reverse bool, nothing func(x T) T, step func(before T, rows []T) (after, out T)) T {
	rows := make([]T, len(xs))
	for i, x := range xs {
		rows[i] = ops.MoveAxis(x, axis, 0)
	}
	start := ops.Fill(ops.Index(sizesOf(rows[0]), key.From(1)), nothing(xs[0]))
	_, out := control.Scan(func(before T, rows []T) (T, T) { return step(before, rows) }, start, rows, control.ScanOptions{Reverse: reverse})
	return ops.MoveAxis(out, 0, axis)
}

// ranked writes the first elements along an axis in sorted order, and their positions.
func (e *node) ranked(n string, axis int, descending bool) []string {
	d := e.dtypeOf()
	to := ordered.wider(d)
	if to == dtype.None {
		refuse(tenon.ErrUnsupported, "ONNX's TopK does not support elements of type %v", d)
	}
	x := e.in(0)
	if to != d {
		x = e.cast(x, to)
	}
	out := e.put(2, "TopK", []string{x, n}, withInt("axis", axis), withFlag("largest", descending), withFlag("sorted", true))
	if to != d {
		out[0] = e.cast(out[0], d)
	}
	return out
}

// whole returns the size of an axis as a vector of one element.
func (e *node) whole(axis int) string {
	axis = (axis + e.ofRank(0)) % e.ofRank(0)
	if n := e.t(0).Shape().Dim(axis); n >= 0 {
		return e.vector(n)
	}
	return e.do("Shape", []string{e.in(0)}, withInt("start", axis), withInt("end", axis+1))
}

func sorted(e *node) []string {
	return e.ranked(e.whole(e.c.Int(1)), e.c.Int(1), e.c.Bool(2))[:1]
}

func argSorted(e *node) []string {
	return e.ranked(e.whole(e.c.Int(1)), e.c.Int(1), e.c.Bool(2))[1:]
}

func topKOf(e *node) []string {
	k := e.do("Reshape", []string{e.int64s(1), e.vector(1)})
	return e.ranked(k, e.c.Int(2), true)
}

// uniqueOf writes the values, inverse, counts and first positions.
func uniqueOf(e *node) []string {
	out := e.put(4, "Unique", e.ins(), withFlag("sorted", false)) // values, first, inverse, counts
	return []string{out[0], out[2], out[3], out[1]}
}

// searchSorted counts the elements before each value.
func searchSorted(c *op.Call) T {
	rows, x := c.Tensor(0), c.Tensor(1)
	before := ops.Less
	if c.Bool(2) {
		before = ops.LessEqual
	}
	if x.DType() == dtype.Bool {
		rows, x = ops.Cast(rows, dtype.Int32), ops.Cast(x, dtype.Int32)
	}
	if rank(rows) > 1 {
		rows = ops.ExpandDims(rows, 1)
	}
	return ops.Sum(ops.Cast(before(rows, ops.ExpandDims(x, -1)), dtype.Int64), -1)
}
