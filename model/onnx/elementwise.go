package onnx

import (
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

func identity(c *call) []any {
	c.mayBeNil = true
	return one(c.value(0))
}

// divide rounds quotients of integers toward zero.
func divide(x, y any) T {
	if x.(T).DType().IsInteger() {
		return ops.TruncateDiv(x, y)
	}
	return ops.Div(x, y)
}

// power returns a power in the type of the base.
func power(c *call) []any {
	x, y := c.x(0), c.x(1)
	dt := x.DType()
	if y.DType() == dt {
		return one(ops.Pow(x, y))
	}
	if dt.IsInteger() && y.DType().IsFloat() {
		return one(ops.Cast(ops.Pow(ops.Cast(x, dtype.Float64), ops.Cast(y, dtype.Float64)), dt))
	}
	return one(ops.Pow(x, ops.Cast(y, dt)))
}

func modulo(c *call) []any {
	if c.flag("fmod") {
		return one(ops.TruncateMod(c.x(0), c.x(1)))
	}
	return one(ops.Mod(c.x(0), c.x(1)))
}

func bitShift(c *call) []any {
	if c.text("direction", "") == "LEFT" {
		return one(ops.LeftShift(c.x(0), c.x(1)))
	}
	return one(ops.RightShift(c.x(0), c.x(1)))
}

func mean(c *call) []any {
	sum := folded(ops.Add)(c)[0].(T)
	return one(ops.Div(sum, like(float64(len(c.in)), sum)))
}

// clip limits the elements. Before version 11 the limits were attributes.
func clip(c *call) []any {
	x := c.x(0)
	limit := func(i int, name string) any {
		if i < len(c.in) && c.given[i] {
			return c.x(i)
		}
		if a := c.attr(name); a != nil {
			return like(float64(a.f), x)
		}
		return nil
	}
	lo, hi := limit(1, "min"), limit(2, "max")
	// If the limits are reversed, the upper one wins.
	if lo != nil {
		x = ops.Maximum(x, lo)
	}
	if hi != nil {
		x = ops.Minimum(x, hi)
	}
	return one(x)
}

func isInf(c *call) []any {
	x := c.x(0)
	out := ops.IsInf(x)
	if c.int("detect_positive", 1) == 0 {
		out = ops.LogicalAnd(out, ops.Less(x, like(0, x)))
	}
	if c.int("detect_negative", 1) == 0 {
		out = ops.LogicalAnd(out, ops.Greater(x, like(0, x)))
	}
	return one(out)
}

// cast converts elements, including strings.
func cast(x T, to dtype.DType) T {
	switch from := x.DType(); {
	case to == from:
		return x
	case from.IsString() && to == dtype.Bool:
		return ops.Cast(ops.StringToNumber(x, dtype.Int64), to)
	case from.IsString() && (to == dtype.Float16 || to == dtype.BFloat16):
		return ops.Cast(ops.StringToNumber(x, dtype.Float32), to)
	case from.IsString():
		return ops.StringToNumber(x, to)
	case to.IsString():
		return ops.AsString(x, ops.FormatOptions{Notation: ops.NotationShortest})
	default:
		return ops.Cast(x, to)
	}
}

// bitcast reinterprets the bytes of elements as another type of the same size.
func bitcast(x T, to dtype.DType) T {
	if x.DType().Size() != to.Size() {
		refuse(tenon.ErrDType, "elements of type %v cannot be reinterpreted as %v", x.DType(), to)
	}
	if x.DType() == dtype.Bool || to == dtype.Bool {
		x = ops.Cast(x, dtype.Uint8)
		if to == dtype.Bool {
			return ops.Cast(x, to)
		}
	}
	return ops.Bitcast(x, to)
}

func celu(x T, alpha, _ float64) T {
	zero, a := like(0, x), like(alpha, x)
	return ops.Add(ops.Maximum(x, zero), ops.Minimum(zero, ops.Mul(a, ops.Expm1(ops.Div(x, a)))))
}

func hardSigmoid(x T, alpha, beta float64) T {
	return ops.Clip(ops.Add(ops.Mul(x, like(alpha, x)), like(beta, x)), like(0, x), like(1, x))
}

func selu(x T, alpha, gamma float64) T {
	return ops.Mul(ops.Elu(x, alpha), like(gamma, x))
}

func shrink(c *call) []any {
	x := c.x(0)
	lambd, bias := like(c.float("lambd", 0.5), x), like(c.float("bias", 0), x)
	zero := ops.ZerosLike(x)
	out := ops.Where(ops.Less(x, ops.Neg(lambd)), ops.Add(x, bias), ops.Where(ops.Greater(x, lambd), ops.Sub(x, bias), zero))
	return one(out)
}

// prelu has a slope for each feature before version 7.
func prelu(c *call) []any {
	x, slope := c.x(0), c.x(1)
	if c.opset < 7 && rank(slope) == 1 && rank(x) > 1 {
		slope = perFeature(slope, x)
	}
	return one(ops.Where(ops.Less(x, like(0, x)), ops.Mul(x, slope), x))
}

func gelu(c *call) []any {
	if c.text("approximate", "none") == "tanh" {
		return one(ops.GeluTanh(c.x(0)))
	}
	return one(ops.Gelu(c.x(0)))
}

// softmaxes is an operation along an axis. Before version 13 it covered all axes from one on.
func softmaxes(f func(x any, axis int) T) impl {
	return func(c *call) []any {
		x := c.x(0)
		if c.opset >= 13 {
			return one(f(x, c.int("axis", -1)))
		}
		k := axis(c.int("axis", 1), rank(x))
		return one(ops.Reshape(f(flattened(x, k), 1), ops.Shape(x)))
	}
}

// flattened returns x as a matrix, with the axes before k in the rows.
func flattened(x T, k int) T {
	d := dims(x)
	rows, columns := 1, 1
	for i, n := range d {
		if i < k {
			rows *= n
		} else {
			columns *= n
		}
	}
	return ops.Reshape(x, []int{rows, columns})
}

func hardmax(x any, axis int) T {
	t := x.(T)
	if axis < 0 {
		axis += rank(t)
	}
	return ops.OneHot(ops.ArgMax(x, axis), size(t, axis), axis, ops.OneHotOptions{DType: t.DType()})
}

// dropout drops nothing unless the model is in training mode, which it is only if its input
// says so. The random numbers depend on the seed.
func dropout(c *call) []any {
	x := c.x(0)
	training := c.has(2) && ops.Cast(c.concrete(2), dtype.Bool) != nil && c.scalar(2, 0) != 0
	rate := c.scalar(1, c.float("ratio", 0.5))
	mask := ops.OnesLike(ops.Cast(x, dtype.Bool))
	if !training || rate == 0 {
		return []any{x, mask}
	}
	mask = ops.RandomBernoulli(ops.RandomKey(uint64(c.int("seed", 0))), ops.Shape(x), 1-rate)
	kept := ops.Div(ops.Mul(x, ops.Cast(mask, x.DType())), like(1-rate, x))
	return []any{kept, mask}
}

// localResponse divides by the sum of squares of neighbouring features.
func localResponse(c *call) []any {
	x := c.x(0)
	n := c.int("size", 1)
	before := (n - 1) / 2
	squares := ops.Windows(ops.Square(x), 1, ops.WindowOptions{Size: []int{n}, Before: []int{before}, After: []int{n - 1 - before}})
	sum := ops.Sum(squares, 2)
	base := ops.Add(like(c.float("bias", 1), x), ops.Mul(like(c.float("alpha", 0.0001)/float64(n), x), sum))
	return one(ops.Div(x, ops.Pow(base, like(c.float("beta", 0.75), x))))
}

type reducer = func(x any, axes ...int) T

// reduction is an operation that reduces the given axes, or all if none are given.
func reduction(keep, drop reducer) impl {
	return func(c *call) []any {
		x := c.x(0)
		axes := c.intsAt(1, "axes")
		if len(axes) == 0 {
			if c.flag("noop_with_empty_axes") {
				axes = []int{}
			} else {
				axes = upTo(rank(x))
			}
		}
		f := drop
		if c.int("keepdims", 1) != 0 {
			f = keep
		}
		if len(axes) == 0 {
			// No axis is reduced, so f is applied to single elements.
			return one(ops.Squeeze(f(ops.ExpandDims(x, 0), 0), squeezed(c, rank(x))...))
		}
		return one(f(x, axes...))
	}
}

// squeezed returns the axis that a reduction over a new axis of size 1 leaves.
func squeezed(c *call, rank int) []int {
	if c.int("keepdims", 1) != 0 {
		return []int{0}
	}
	return nil
}

// after reduces the results of f for the elements.
func after(f func(x any) T, r reducer) reducer {
	return func(x any, axes ...int) T { return r(f(x), axes...) }
}

// before applies f to the results of a reduction.
func before(f func(x any) T, r reducer) reducer {
	return func(x any, axes ...int) T { return f(r(x, axes...)) }
}

// extreme gives the extreme of no elements a value, and accepts booleans.
func extreme(r reducer, nothing func(dtype.DType) float64) reducer {
	return func(x any, axes ...int) T {
		t := x.(T)
		dt := t.DType()
		if dt == dtype.Bool {
			return ops.Cast(extreme(r, nothing)(ops.Cast(t, dtype.Uint8), axes...), dt)
		}
		if t.Shape().IsFull() && t.Shape().Size() == 0 {
			sum := ops.SumKeep(x, axes...)
			if kept := r(ops.Zeros(dt, ones(rank(t))), axes...); rank(kept) < rank(t) {
				sum = ops.Sum(x, axes...)
			}
			return ops.Add(sum, like(nothing(dt), t))
		}
		return r(x, axes...)
	}
}

func ones(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = 1
	}
	return out
}

func argReduction(keep, drop func(x any, axis int) T) impl {
	return func(c *call) []any {
		x, k := c.x(0), c.int("axis", 0)
		f := drop
		if c.int("keepdims", 1) != 0 {
			f = keep
		}
		if c.flag("select_last_index") {
			last := ops.Sub(size(x, axis(k, rank(x))), 1)
			return one(ops.Sub(ops.Cast(last, dtype.Int64), f(ops.Reverse(x, k), k)))
		}
		return one(f(x, k))
	}
}

func cumulative(f func(x any, axis int, o ops.CumOptions) T) impl {
	return func(c *call) []any {
		k := int(c.scalar(1, 0))
		return one(f(c.x(0), k, ops.CumOptions{Exclusive: c.flag("exclusive"), Reverse: c.flag("reverse")}))
	}
}

// window is a function over n points, a sum of cosines.
func window(a, b, d float64) impl {
	return func(c *call) []any {
		n := c.known(0)[0]
		if n < 0 || n > 1<<30 {
			refuse(tenon.ErrInvalid, "a window of %d points", n)
		}
		over := float64(n)
		if c.int("periodic", 1) == 0 {
			over--
		}
		out := make([]float64, n)
		for i := range out {
			at := 2 * math.Pi * float64(i) / over
			out[i] = a - b*math.Cos(at) + d*math.Cos(2*at)
		}
		return one(ops.Cast(tensor.Wrap(out, shape.Of(n)), c.dtype("output_datatype", dtype.Float32)))
	}
}
