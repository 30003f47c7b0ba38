package ops

import (
	"unsafe"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/elementwise"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// FMA returns x·y + z; float32 and float64 results are rounded once.
//
// Gradient: ct·y for x, ct·x for y, ct for z.
func FMA(x, y, z any) tensor.Tensor { return op.Eval(fmaOp, x, y, z) }

var fmaOp = ternary(elementwise.FMA, op.Op{Statement: op.Statement{Axes: op.Map, Zero: op.Zero{Keeps: true, Linear: []op.Operands{one | three, two | three}}}, GoName: "ops.FMA", Doc: "x·y + z, rounded once", Params: []op.Param{{Name: "x", Group: 1}, {Name: "y", Group: 1}, {Name: "z", Group: 1}}})

var _ = gradient(fmaOp, func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
	x, y, z := c.Tensor(0), c.Tensor(1), c.Tensor(2)
	return []tensor.Tensor{sumTo(Mul(ct[0], conj(y)), x), sumTo(Mul(ct[0], conj(x)), y), sumTo(ct[0], z)}
})

// Lerp returns x + w·(y - x): x for w = 0 and y for w = 1.
//
// Gradient: ct·(1-w) for x, ct·w for y, ct·(y-x) for w.
func Lerp(x, y, w any) tensor.Tensor { return op.Eval(lerpOp, x, y, w) }

var lerpOp = ternary(elementwise.Lerp, op.Op{Statement: op.Statement{Axes: op.Map, Zero: op.Zero{Keeps: true, Linear: []op.Operands{one | two}}}, Doc: "x + w·(y - x)", Params: []op.Param{{Name: "x", Group: 1}, {Name: "y", Group: 1}, {Name: "w", Group: 1}}})

var _ = gradient(lerpOp, func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
	x, y, w := c.Tensor(0), c.Tensor(1), c.Tensor(2)
	return []tensor.Tensor{
		sumTo(Mul(ct[0], conj(Sub(1, w))), x), sumTo(Mul(ct[0], conj(w)), y), sumTo(Mul(ct[0], conj(Sub(y, x))), w),
	}
})

// Clip returns x limited to the range from lo to hi: min(max(x, lo), hi). A nil
// limit has no effect. NaN stays NaN.
//
// Gradient: ct for x where it lies within the limits, boundaries included; for a
// limit, ct where x lies beyond it.
func Clip(x, lo, hi any) tensor.Tensor { return op.Eval(clipOp, x, lo, hi) }

var clipOp = ternary(elementwise.Clip, op.Op{Statement: mapped, Doc: "x limited to a range", Params: []op.Param{
	{Name: "x", Group: 1}, {Name: "min", Group: 1, Optional: true}, {Name: "max", Group: 1, Optional: true},
}})

var _ = gradient(clipOp, func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
	x := c.Tensor(0)
	zero := zeroOf(x.DType())
	gx := ct[0]
	var limits []tensor.Tensor
	add := func(limit tensor.Tensor, beyond tensor.Tensor) {
		gx = Where(beyond, zero, gx)
		limits = append(limits, sumTo(Where(beyond, ct[0], zero), limit))
	}
	lo, hi := c.Tensor(1), c.Tensor(2)
	if lo != nil {
		low := Less(x, lo)
		if hi != nil { // the upper limit wins if they cross
			low = LogicalAnd(low, LessEqual(lo, hi))
		}
		add(lo, low)
	}
	if hi != nil {
		high := Greater(x, hi)
		if lo != nil {
			high = LogicalOr(high, Greater(lo, hi))
		}
		add(hi, high)
	}
	return append([]tensor.Tensor{sumTo(gx, x)}, limits...)
})

// ternary registers an elementwise operation of three tensors, of which the last
// two may be optional. An absent operand is replaced by the one before it if that
// makes no difference.
func ternary(k elementwise.Op, o op.Op) *op.Op {
	o.Name, o.Results, o.Strided = k.String(), 1, true
	o.Elem = keeping(func(d dtype.DType) bool { return elementwise.TernaryOf(k, d) != nil })
	o.Kernel = func(c *op.Call) ([]tensor.Tensor, error) {
		x, y, z := c.Dense(0), c.Dense(1), c.Dense(2)
		s := outShape(c, 0)
		switch {
		case y == nil && z == nil:
			return c.Result(x)
		case z == nil:
			out, _ := binaryDense(elementwise.Maximum, x, y, s, grainCheap)
			return c.Result(out)
		case y == nil:
			out, _ := binaryDense(elementwise.Minimum, x, z, s, grainCheap)
			return c.Result(out)
		}
		f := elementwise.TernaryOf(k, x.DType())
		out := tensor.Uninit(x.DType(), s)
		dst, size := out.Raw(), x.DType().Size()
		if p, scalars, ok := evenly(s, x, y, z); ok {
			f(dst, p[0], p[1], p[2], out.Len(), scalars)
			return c.Result(out)
		}
		newLoop(s, x, y, z).each(grainCheap, func(r run) int {
			f(unsafe.Add(dst, r.at*size), r.p[0], r.p[1], r.p[2], r.n, r.scalars)
			return -1
		})
		return c.Result(out)
	}
	return op.Register(&o)
}
