package onnx

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
)

// spread reshapes scales or zero points so that they broadcast over x: one for all elements,
// for each index along an axis, or for each block along an axis.
func (c *call) spread(s, x T) T {
	if rank(s) == 0 || s.Shape().IsFull() && s.Shape().Size() == 1 && rank(s) <= 1 {
		return ops.Reshape(s, []int{})
	}
	k := axis(c.int("axis", 1), rank(x))
	if block := c.int("block_size", 0); block > 0 {
		n := dims(x)[k]
		s = ops.Repeat(s, block, k)
		at := ops.Range(int64(0), int64(n), int64(1))
		return ops.Gather(s, at, k)
	}
	to := ones(rank(x))
	to[k] = -1
	return ops.Reshape(s, to)
}

// saturated rounds to integers of a type, with saturation.
func saturated(x T, zero T, dt dtype.DType) T {
	y := ops.Round(x)
	if zero != nil {
		y = ops.Add(y, ops.Cast(zero, y.DType()))
	}
	return ops.Cast(ops.Clip(y, like(lowest(dt), y), like(highest(dt), y)), dt)
}

func quantize(c *call) []any {
	x := c.x(0)
	scale := c.spread(c.x(1), x)
	dt := c.dtype("output_dtype", dtype.Uint8)
	zero := T(nil)
	if c.has(2) {
		dt = c.x(2).DType()
		zero = c.spread(c.x(2), x)
	}
	wide := c.dtype("precision", scale.DType())
	if a := c.attr("precision"); a == nil && x.DType() != scale.DType() {
		wide = dtype.Float32
	}
	return one(saturated(ops.Cast(ops.Div(ops.Cast(x, wide), ops.Cast(scale, wide)), dtype.Float32), zero, dt))
}

func dequantize(c *call) []any {
	x := c.x(0)
	y := ops.Cast(x, dtype.Float32)
	if c.has(2) {
		y = ops.Sub(y, ops.Cast(c.spread(c.x(2), x), dtype.Float32))
	}
	y = ops.Mul(y, ops.Cast(c.spread(c.x(1), x), dtype.Float32))
	return one(ops.Cast(y, c.dtype("output_dtype", c.x(1).DType())))
}

// dynamicQuantize chooses scale and zero point from the range of x, which is extended to
// include 0.
func dynamicQuantize(c *call) []any {
	x := c.x(0)
	zero := like(0, x)
	lo, hi := ops.Minimum(ops.Min(x), zero), ops.Maximum(ops.Max(x), zero)
	scale := ops.Div(ops.Sub(hi, lo), like(255, x))
	point := saturated(ops.Neg(ops.DivNoNaN(lo, scale)), nil, dtype.Uint8)
	return []any{saturated(ops.DivNoNaN(x, scale), point, dtype.Uint8), scale, point}
}

// shifted returns x minus its zero point, input i, as int32. along is the axis of a vector of
// zero points.
func (c *call) shifted(x T, i, along int) T {
	y := ops.Cast(x, dtype.Int32)
	if !c.has(i) {
		return y
	}
	zero := ops.Cast(c.x(i), dtype.Int32)
	if rank(zero) == 1 && zero.Shape().Dim(0) != 1 {
		s := ones(rank(x))
		s[axis(along, rank(x))] = -1
		zero = ops.Reshape(zero, s)
	} else if rank(zero) == 1 {
		zero = ops.Reshape(zero, []int{})
	}
	return ops.Sub(y, zero)
}

func matMulInteger(c *call) []any {
	return one(matMul(c.shifted(c.x(0), 2, -2), c.shifted(c.x(1), 3, -1)))
}

func convInteger(c *call) []any {
	return one(c.convolve(c.shifted(c.x(0), 2, 1), c.shifted(c.x(1), 3, 0)))
}

// requantized converts sums of products to the scale of the result.
func requantized(sum, xScale, wScale, yScale, yZero T) T {
	f := dtype.Float32
	y := ops.Div(ops.Mul(ops.Mul(ops.Cast(sum, f), ops.Cast(xScale, f)), ops.Cast(wScale, f)), ops.Cast(yScale, f))
	return saturated(y, yZero, yZero.DType())
}

func qLinearMatMul(c *call) []any {
	sum := matMul(c.shifted(c.x(0), 2, -2), c.shifted(c.x(3), 5, -1))
	return one(requantized(sum, c.x(1), c.x(4), c.x(6), c.x(7)))
}

func qLinearConv(c *call) []any {
	sum := c.convolve(c.shifted(c.x(0), 2, 1), c.shifted(c.x(3), 5, 0))
	if c.has(8) {
		sum = ops.Add(sum, perFeature(c.x(8), sum))
	}
	scale := c.x(4)
	if rank(scale) == 1 {
		scale = perFeature(scale, sum)
	}
	return one(requantized(sum, c.x(1), scale, c.x(6), c.x(7)))
}
